# frozen_string_literal: true

# Set is a core class; requiring it changes nothing.
