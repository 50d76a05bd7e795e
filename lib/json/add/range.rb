# frozen_string_literal: true

require "json"

class Range
  def self.json_create(object) = new(*object["a"])
  def as_json(*) = { JSON.create_id => self.class.name, "a" => [self.begin, self.end, exclude_end?] }
  def to_json(*arguments) = as_json.to_json(*arguments)
end
