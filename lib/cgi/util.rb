# frozen_string_literal: true

require "cgi/escape"
