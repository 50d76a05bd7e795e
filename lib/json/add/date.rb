# frozen_string_literal: true

require "date"
require "json"

class Date
  def self.json_create(object) = civil(*object.values_at("y", "m", "d", "sg"))
  def as_json(*) = { JSON.create_id => self.class.name, "y" => year, "m" => month, "d" => day, "sg" => start }
  def to_json(*arguments) = as_json.to_json(*arguments)
end
