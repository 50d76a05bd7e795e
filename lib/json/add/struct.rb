# frozen_string_literal: true

require "json"

class Struct
  def self.json_create(object) = keyword_init? ? new(**members.zip(object["v"]).to_h) : new(*object["v"])

  def as_json(*)
    raise JSON::JSONError, "only structs with a name can be told apart" unless self.class.name
    { JSON.create_id => self.class.name, "v" => values }
  end

  def to_json(*arguments) = as_json.to_json(*arguments)
end
