# frozen_string_literal: true

require "json"

class Exception
  def self.json_create(object) = new(object["m"]).tap { |error| error.set_backtrace(object["b"]) }
  def as_json(*) = { JSON.create_id => self.class.name, "m" => message, "b" => backtrace }
  def to_json(*arguments) = as_json.to_json(*arguments)
end
