# frozen_string_literal: true

module Psych
  # What `init_with` and `encode_with` receive: what stands, or is to stand, for an object.
  class Coder
    # `type` is :map, :seq, :scalar, or :object for another object in its place.
    attr_reader :type, :seq, :map, :scalar, :object
    attr_accessor :tag, :style, :implicit

    def initialize(tag, content = {}, type = :map)
      @tag = tag
      @type = type
      @map = type == :map ? content : {}
      @seq = type == :seq ? content : []
      @scalar = type == :scalar ? content : nil
      @object = nil
      @implicit = false
      @style = Nodes::Mapping::BLOCK
    end

    def [](k)
      @type = :map
      @map[k]
    end

    def []=(k, v)
      @type = :map
      @map[k] = v
    end
    alias add []=

    def map=(map)
      @type = :map
      @map = map
    end

    def seq=(list)
      @type = :seq
      @seq = list
    end

    def scalar=(value)
      @type = :scalar
      @scalar = value
    end

    def represent_scalar(tag, value)
      @tag = tag
      self.scalar = value
    end

    def represent_seq(tag, list)
      @tag = tag
      self.seq = list
    end

    def represent_map(tag, map)
      @tag = tag
      self.map = map
    end

    def represent_object(tag, object)
      @tag = tag
      @type = :object
      @object = object
    end
  end
end
