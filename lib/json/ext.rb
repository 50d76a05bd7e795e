# frozen_string_literal: true

require "json/common"
