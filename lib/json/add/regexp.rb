# frozen_string_literal: true

require "json"

class Regexp
  def self.json_create(object) = new(object["s"], object["o"])
  def as_json(*) = { JSON.create_id => self.class.name, "o" => options, "s" => source }
  def to_json(*arguments) = as_json.to_json(*arguments)
end
