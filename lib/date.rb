# frozen_string_literal: true

# Dates and times of the civil, ordinal, commercial and Julian day calendars, with
# the reform from the Julian to the Gregorian calendar at any chosen day.
require "date/calendar"
require "date/core"
require "date/strftime"
require "date/strptime"
require "date/parse"
require "date/datetime"
require "date/time"
