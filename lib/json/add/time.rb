# frozen_string_literal: true

require "json"

class Time
  def self.json_create(object) = at(object["s"], Rational(object["n"], 1000))
  def as_json(*) = { JSON.create_id => self.class.name, "s" => tv_sec, "n" => tv_nsec }
  def to_json(*arguments) = as_json.to_json(*arguments)
end
