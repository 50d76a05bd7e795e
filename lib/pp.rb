# frozen_string_literal: true

require "prettyprint"

# Pretty printing of objects.
class PP < PrettyPrint
  VERSION = "0.6.2"

  def self.width_for(out)
    if ENV["COLUMNS"]&.match?(/\A\d+\z/)
      ENV["COLUMNS"].to_i - 1
    elsif out.respond_to?(:winsize) && out.respond_to?(:tty?) && out.tty?
      out.winsize[1] - 1
    else
      79
    end
  rescue SystemCallError, NotImplementedError
    79
  end

  def self.pp(obj, out = $stdout, width = width_for(out))
    q = new(out, width)
    q.guard_inspect_key { q.pp obj }
    q.flush
    out << "\n"
  end

  def self.singleline_pp(obj, out = $stdout)
    q = SingleLine.new(out)
    q.guard_inspect_key { q.pp obj }
    q.flush
    out
  end

  def self.mcall(obj, mod, meth, *args, &block)
    mod.instance_method(meth).bind_call(obj, *args, &block)
  end

  class << self
    attr_accessor :sharing_detection
  end
  @sharing_detection = false

  # What the printers of objects call.
  module PPMethods
    # Objects being printed on this thread, by identity.
    def guard_inspect_key
      saved = Thread.current[:__recursive_key__]
      Thread.current[:__recursive_key__] = {}.compare_by_identity
      yield
    ensure
      Thread.current[:__recursive_key__] = saved
    end

    def check_inspect_key(id)
      h = Thread.current[:__recursive_key__]
      h && h.include?(id)
    end

    def push_inspect_key(id)
      Thread.current[:__recursive_key__][id] = true
    end

    def pop_inspect_key(id)
      Thread.current[:__recursive_key__].delete(id)
    end

    def pp(obj)
      if check_inspect_key(obj)
        group { obj.pretty_print_cycle(self) }
        return
      end
      begin
        push_inspect_key(obj)
        group do
          obj.pretty_print(self)
        rescue NoMethodError
          raise if ::Object === obj
          text ::Kernel.instance_method(:inspect).bind_call(obj)
        end
      ensure
        pop_inspect_key(obj) unless PP.sharing_detection
      end
    end

    def object_group(obj, &block)
      group(1, "#<#{obj.class.name}", ">", &block)
    end

    def object_address_group(obj, &block)
      str = Kernel.instance_method(:to_s).bind_call(obj).chomp(">")
      group(1, str, ">", &block)
    end

    def comma_breakable
      comma = ","
      text comma
      breakable
    end

    def seplist(list, sep = nil, iter_method = :each)
      sep ||= lambda { comma_breakable }
      first = true
      list.__send__(iter_method) do |*v|
        if first
          first = false
        else
          sep.call
        end
        yield(*v)
      end
    end

    def pp_object(obj)
      object_address_group(obj) do
        seplist(obj.pretty_print_instance_variables, lambda { text "," }) do |v|
          breakable
          v = v.to_s if Symbol === v
          text v
          text "="
          group(1) do
            breakable ""
            pp(obj.instance_eval(v))
          end
        end
      end
    end

    def pp_hash(obj)
      group(1, "{", "}") do
        seplist(obj, nil, :each_pair) do |k, v|
          group { pp_hash_pair k, v }
        end
      end
    end

    def pp_hash_pair(k, v)
      if Symbol === k
        text "#{k.inspect.delete_prefix(":")}:" if simple_key?(k)
        text "#{k.to_s.inspect}:" unless simple_key?(k)
      else
        pp k
        text " "
        text "=>"
      end
      group(1) do
        breakable
        pp v
      end
    end

    private

    def simple_key?(k)
      { k => 0 }.inspect.start_with?("{#{k}:")
    end
  end
  include PPMethods

  class SingleLine < PrettyPrint::SingleLine
    include PPMethods
  end

  # How any object prints itself.
  module ObjectMixin
    def pretty_print(q)
      umethod_method = Object.instance_method(:method)
      begin
        inspect_method = umethod_method.bind_call(self, :inspect)
      rescue NameError
      end
      if inspect_method && inspect_method.owner != Kernel
        q.text inspect
      elsif !inspect_method && respond_to?(:inspect)
        q.text inspect
      else
        q.pp_object(self)
      end
    end

    def pretty_print_cycle(q)
      q.object_address_group(self) do
        q.breakable
        q.text "..."
      end
    end

    def pretty_print_instance_variables = instance_variables.sort

    def pretty_print_inspect
      if Object.instance_method(:method).bind_call(self, :pretty_print).owner == PP::ObjectMixin
        raise "pretty_print is not overridden for #{self.class}"
      end
      PP.singleline_pp(self, "".dup)
    end
  end
end

class Array
  def pretty_print(q)
    q.group(1, "[", "]") do
      q.seplist(self) { |v| q.pp v }
    end
  end

  def pretty_print_cycle(q)
    q.text(empty? ? "[]" : "[...]")
  end
end

class Hash
  def pretty_print(q)
    q.pp_hash self
  end

  def pretty_print_cycle(q)
    q.text(empty? ? "{}" : "{...}")
  end
end

class Set
  def pretty_print(q)
    q.group(1, instance_of?(Set) ? "Set[" : "#<#{self.class}: {", instance_of?(Set) ? "]" : "}>") do
      q.seplist(self) { |v| q.pp v }
    end
  end
end

class << ENV
  def pretty_print(q)
    h = {}
    ENV.keys.sort.each { |k| h[k] = ENV[k] }
    q.pp_hash h
  end
end

class Struct
  def pretty_print(q)
    q.group(1, "#<struct #{PP.mcall(self, Kernel, :class).name}", ">") do
      q.seplist(PP.mcall(self, Struct, :members), lambda { q.text "," }) do |member|
        q.breakable
        q.text member.to_s
        q.text "="
        q.group(1) do
          q.breakable ""
          q.pp self[member]
        end
      end
    end
  end

  def pretty_print_cycle(q)
    q.text "#<struct #{PP.mcall(self, Kernel, :class).name}:...>"
  end
end

class Data
  def pretty_print(q)
    class_name = PP.mcall(self, Kernel, :class).name
    class_name = " #{class_name}" if class_name
    q.group(1, "#<data#{class_name}", ">") do
      q.seplist(PP.mcall(self, Kernel, :class).members, lambda { q.text "," }) do |member|
        q.breakable
        q.text member.to_s
        q.text "="
        q.group(1) do
          q.breakable ""
          q.pp public_send(member)
        end
      end
    end
  end

  def pretty_print_cycle(q)
    q.text "#<data #{PP.mcall(self, Kernel, :class).name}:...>"
  end
end

class Range
  def pretty_print(q)
    b = self.begin
    e = self.end
    q.pp b if b || !e
    q.breakable ""
    q.text(exclude_end? ? "..." : "..")
    q.breakable ""
    q.pp e if e || !b
  end
end

class String
  def pretty_print(q)
    lines = self.lines
    if lines.size > 1
      q.group(0, "", "") do
        q.seplist(lines, lambda { q.text " +"; q.breakable }) { |v| q.pp v }
      end
    else
      q.text inspect
    end
  end
end

class MatchData
  def pretty_print(q)
    nc = []
    regexp.named_captures.each { |name, indexes| indexes.each { |i| nc[i] = name } }
    q.object_group(self) do
      q.breakable
      q.seplist(0...size, lambda { q.breakable }) do |i|
        if i == 0
          q.pp self[i]
        else
          q.text(nc[i] || i.to_s)
          q.text ":"
          q.pp self[i]
        end
      end
    end
  end
end

class Object < BasicObject
  include PP::ObjectMixin
end

[Numeric, Symbol, FalseClass, TrueClass, NilClass, Module].each do |c|
  c.class_eval do
    def pretty_print_cycle(q)
      q.text inspect
    end
  end
end

[Numeric, FalseClass, TrueClass, Module].each do |c|
  c.class_eval do
    def pretty_print(q)
      q.text inspect
    end
  end
end

module Kernel
  def pretty_inspect = PP.pp(self, "".dup)

  def pp(*objs)
    objs.each { |obj| PP.pp(obj) }
    objs.size <= 1 ? objs.first : objs
  end
  module_function :pp
end
