# frozen_string_literal: true

require "json"

class Symbol
  def self.json_create(object) = object["s"].to_sym
  def as_json(*) = { JSON.create_id => "Symbol", "s" => name }
  def to_json(state = nil, *arguments) = as_json.to_json(state, *arguments)
end
