# frozen_string_literal: true

require "set"
require "json"

class Set
  def self.json_create(object) = new(object["a"])
  def as_json(*) = { JSON.create_id => self.class.name, "a" => to_a }
  def to_json(*arguments) = as_json.to_json(*arguments)
end
