# frozen_string_literal: true

require "json"

class Complex
  def self.json_create(object) = Complex(object["r"], object["i"])
  def as_json(*) = { JSON.create_id => self.class.name, "r" => real, "i" => imaginary }
  def to_json(*arguments) = as_json.to_json(*arguments)
end
