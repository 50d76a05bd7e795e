# frozen_string_literal: true

require "json/add/date"
require "json/add/date_time"
require "json/add/exception"
require "json/add/range"
require "json/add/regexp"
require "json/add/struct"
require "json/add/symbol"
require "json/add/time"
