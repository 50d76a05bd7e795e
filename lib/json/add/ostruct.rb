# frozen_string_literal: true

require "json"
require "ostruct"

class OpenStruct
  def self.json_create(object) = new(object["t"] || object[:t])

  def as_json(*)
    raise JSON::JSONError, "only classes with a name can be told apart" unless self.class.name
    { JSON.create_id => self.class.name, "t" => to_h }
  end

  def to_json(*arguments) = as_json.to_json(*arguments)
end
