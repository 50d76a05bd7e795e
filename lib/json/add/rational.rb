# frozen_string_literal: true

require "json"

class Rational
  def self.json_create(object) = Rational(object["n"], object["d"])
  def as_json(*) = { JSON.create_id => self.class.name, "n" => numerator, "d" => denominator }
  def to_json(*arguments) = as_json.to_json(*arguments)
end
