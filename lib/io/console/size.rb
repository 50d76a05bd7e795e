# frozen_string_literal: true

require "io/console"
