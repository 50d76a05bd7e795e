# frozen_string_literal: true

require "bigdecimal"
require "json"

class BigDecimal
  def self.json_create(object) = _load(object["b"])
  def as_json(*) = { JSON.create_id => self.class.name, "b" => _dump }
  def to_json(*arguments) = as_json.to_json(*arguments)
end
