# frozen_string_literal: true

require "psych/scalar"
require "psych/nodes"
require "psych/handler"
require "psych/parser"
require "psych/coder"
require "psych/loader"
require "psych/emitter"
require "psych/dumper"

# YAML 1.1. A parser tells a handler what is in a text; one handler makes a tree of nodes, another, the emitter, writes a text.
# A loader makes objects of nodes, and a dumper nodes of objects.
module Psych
  VERSION = "5.3.1"
  LIBYAML_VERSION = "0.2.5"

  class Exception < ::RuntimeError; end

  class BadAlias < Exception; end

  class AliasesNotEnabled < BadAlias
    def initialize(msg = "Alias parsing was not enabled. To enable it, pass `aliases: true` to `Psych::load` or `Psych::safe_load`.")
      super
    end
  end

  class AnchorNotDefined < BadAlias
    def initialize(name) = super("An alias referenced an unknown anchor: #{name}")
  end

  class DisallowedClass < Exception
    def initialize(action, name) = super("Tried to #{action} unspecified class: #{name}")
  end

  class SyntaxError < Exception
    attr_reader :file, :line, :column, :offset, :problem, :context

    def initialize(file, line, col, offset, problem, context)
      super("(%s): %s at line %d column %d" % [file || "<unknown>", [problem, context].compact.join(" "), line, col])
      @file, @line, @column, @offset, @problem, @context = file, line, col, offset, problem, context
    end
  end

  class << self
    # Tag => name of the class that is made of what has it.
    attr_accessor :load_tags, :dump_tags, :domain_types
  end
  @load_tags = {}
  @dump_tags = {}
  @domain_types = {}

  module_function

  def load(yaml, permitted_classes: [Symbol], permitted_symbols: [], aliases: false, filename: nil, fallback: nil, symbolize_names: false, freeze: false, strict_integer: false)
    safe_load(yaml, filename: filename, fallback: fallback, symbolize_names: symbolize_names, permitted_classes: permitted_classes,
                    permitted_symbols: permitted_symbols, aliases: aliases, freeze: freeze)
  end

  def safe_load(yaml, permitted_classes: [], permitted_symbols: [], aliases: false, filename: nil, fallback: nil, symbolize_names: false, freeze: false, strict_integer: false)
    doc = parse(yaml, filename: filename) or return fallback
    Loader.new(safe: true, classes: permitted_classes, symbols: permitted_symbols, aliases: aliases,
               symbolize_names: symbolize_names, freeze: freeze).load(doc)
  end

  def unsafe_load(yaml, filename: nil, fallback: false, symbolize_names: false, freeze: false, strict_integer: false)
    doc = parse(yaml, filename: filename) or return fallback
    Loader.new(safe: false, aliases: true, symbolize_names: symbolize_names, freeze: freeze).load(doc)
  end

  # With a block, each document's object as soon as it has been read; else a list, of nothing where the text is wrong anywhere.
  def load_stream(yaml, filename: nil, fallback: [], **kw)
    make = ->(doc) { Loader.new(safe: false, aliases: true, **kw).load(doc) }
    return parse_stream(yaml, filename: filename) { |doc| yield make.(doc) } if block_given?
    result = parse_stream(yaml, filename: filename).children.map(&make)
    result.empty? ? fallback : result
  end

  def safe_load_stream(yaml, filename: nil, permitted_classes: [], aliases: false)
    parse_stream(yaml, filename: filename).children.map do |doc|
      Loader.new(safe: true, classes: permitted_classes, aliases: aliases).load(doc)
    end
  end

  # The first document as a tree; false where there is none. What is behind it is not looked at.
  def parse(yaml, filename: nil)
    parse_stream(yaml, filename: filename) { |doc| return doc }
    false
  end

  # All documents, as children of a stream; with a block, each as soon as it has been read.
  def parse_stream(yaml, filename: nil, &block)
    handler = block ? Handlers::DocumentStream.new(&block) : TreeBuilder.new
    filename ||= yaml.path if yaml.respond_to?(:path)
    Parser.new(handler).parse(yaml, filename)
    block ? nil : handler.root
  end

  def parse_file(filename, fallback: false)
    doc = File.open(filename, "r:bom|utf-8") { |f| parse(f, filename: filename) }
    doc || fallback
  end

  def parser = Parser.new(TreeBuilder.new)

  # What has the tag becomes an instance of the class.
  def add_tag(tag, klass)
    Psych.load_tags[tag] = klass.name.to_s
    Psych.dump_tags[klass] = tag
  end

  # The block makes a value of what has the type of that domain: it gets the tag and what was read.
  def add_domain_type(domain, type_tag, &block)
    key = "tag:#{domain}:#{type_tag}"
    Psych.domain_types[key] = [key, block]
    Psych.domain_types[type_tag] = [key, block]
  end

  def add_builtin_type(type_tag, &block)
    key = "tag:yaml.org,2002:#{type_tag}"
    Psych.domain_types[key] = [key, block]
  end

  def remove_type(type_tag) = Psych.domain_types.delete(type_tag)

  def load_file(path, **kw) = File.open(path, "r:bom|utf-8") { |f| load(f, filename: path, **kw) }
  def safe_load_file(path, **kw) = File.open(path, "r:bom|utf-8") { |f| safe_load(f, filename: path, **kw) }
  def unsafe_load_file(path, **kw) = File.open(path, "r:bom|utf-8") { |f| unsafe_load(f, filename: path, **kw) }

  def dump(o, io = nil, options = {})
    if io.is_a?(Hash)
      options = io
      io = nil
    end
    (Dumper.new(options) << o).tree.yaml(io, options)
  end

  def safe_dump(o, io = nil, options = nil, permitted_classes: [], permitted_symbols: [], aliases: false, **more)
    if io.is_a?(Hash)
      options = io
      io = nil
    end
    options = (options || {}).merge(more)
    (Dumper.new(options, permitted: permitted_classes, symbols: permitted_symbols, aliases: aliases) << o).tree.yaml(io, options)
  end

  def dump_stream(*objects) = objects.each_with_object(Dumper.new) { |o, dumper| dumper << o }.tree.yaml

  # JSON is YAML in one of its styles.
  def to_json(object)
    tree = (Dumper.new << object).tree
    tree.each do |node|
      case node
      when Nodes::Document then node.implicit = true
      when Nodes::Sequence, Nodes::Mapping then node.style = Nodes::Sequence::FLOW
      when Nodes::Scalar
        node.value = "null" if node.tag == "tag:yaml.org,2002:null"
        node.style = Nodes::Scalar::DOUBLE_QUOTED if node.quoted
        node.tag = nil
      end
    end
    tree.yaml(nil, line_width: -1)
  end

  def libyaml_version = [0, 2, 5]
end

class Object
  def to_yaml(options = {}) = Psych.dump(self, options)
end

module Kernel
  def y(*objects)
    puts Psych.dump_stream(*objects)
  end
  private :y
end

class Object
  # Instances of this class are written with this tag, and what has it becomes one.
  def self.yaml_tag(url) = Psych.add_tag(url, self)
end
