# frozen_string_literal: true

require "date"
require "json"

class DateTime
  def self.json_create(object)
    civil(*object.values_at("y", "m", "d", "H", "M", "S"), Rational(object["of"]), object["sg"])
  end

  def as_json(*)
    { JSON.create_id => self.class.name, "y" => year, "m" => month, "d" => day, "H" => hour, "M" => minute, "S" => sec, "of" => offset.to_s, "sg" => start }
  end

  def to_json(*arguments) = as_json.to_json(*arguments)
end
