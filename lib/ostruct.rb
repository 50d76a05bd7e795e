# frozen_string_literal: true

# An object with whatever attributes it is given.
class OpenStruct
  VERSION = "1.6.3"
  HAS_PERFORMANCE_WARNINGS = false

  def initialize(hash = nil)
    @table = {}
    return unless hash
    hash.each_pair { |k, v| set_ostruct_member_value!(k, v) }
  end

  def initialize_clone(orig, **kw)
    super(orig, **kw)
    update_to_values!(@table.dup)
  end

  def initialize_dup(orig)
    super
    update_to_values!(@table.dup)
  end
  private :initialize_clone, :initialize_dup

  def update_to_values!(hash)
    @table = {}
    hash.each_pair { |k, v| set_ostruct_member_value!(k, v) }
  end
  private :update_to_values!

  def to_h(&block)
    block ? @table.to_h(&block) : @table.dup
  end

  def each_pair
    return to_enum(__method__) { @table.size } unless defined?(yield)
    @table.each_pair { |p| yield p }
    self
  end

  def marshal_dump = @table

  def marshal_load(hash)
    @table = {}
    hash.each_pair { |k, v| set_ostruct_member_value!(k, v) }
  end

  def new_ostruct_member!(name)
    return if @table.key?(name) || is_method_protected!(name)
    define_singleton_method!(name) { @table[name] }
    define_singleton_method!(:"#{name}=") { |x| @table[name] = x }
  end
  private :new_ostruct_member!

  # Methods that this class itself defines, and those ending in !, stay as they are.
  def is_method_protected!(name)
    if !respond_to?(name, true)
      false
    elsif name.match?(/!$/)
      true
    else
      owner = method!(name).owner
      if owner.instance_of?(Class)
        owner < OpenStruct || owner == OpenStruct
      else
        self.class!.ancestors.any? do |mod|
          return false if mod == OpenStruct
          mod == owner
        end
      end
    end
  end
  private :is_method_protected!

  def freeze
    @table.freeze
    super
  end

  def method_missing(mid, *args)
    len = args.length
    if (mname = mid[/.*(?==\z)/m])
      if len != 1
        raise! ArgumentError, "wrong number of arguments (given #{len}, expected 1)", caller(1)
      end
      set_ostruct_member_value!(mname, args[0])
    elsif len == 0
      @table.fetch(mid) { nil }
    else
      begin
        super
      rescue NoMethodError => err
        err.backtrace.shift if err.backtrace
        raise! err
      end
    end
  end
  private :method_missing

  def [](name) = @table[name.to_sym]

  def []=(name, value)
    name = name.to_sym
    new_ostruct_member!(name)
    @table[name] = value
  end
  alias set_ostruct_member_value! []=
  private :set_ostruct_member_value!

  def dig(name, *names)
    begin
      name = name.to_sym
    rescue NoMethodError
      raise! TypeError, "#{name} is not a symbol nor a string"
    end
    @table.dig(name, *names)
  end

  def delete_field(name, &block)
    sym = name.to_sym
    begin
      singleton_class.remove_method(sym, :"#{sym}=")
    rescue NameError
    end
    @table.delete(sym) do
      return yield if block
      raise! NameError.new("no field '#{sym}' in #{self}", sym)
    end
  end

  InspectKey = :__inspect_key__
  private_constant :InspectKey

  def inspect
    ids = (Thread.current[InspectKey] ||= [])
    if ids.include?(object_id)
      detail = " ..."
    else
      ids << object_id
      begin
        detail = @table.map { |k, v| " #{k}=#{v.inspect}" }.join(",")
      ensure
        ids.pop
      end
    end
    ["#<", self.class!, detail, ">"].join
  end
  alias to_s inspect

  attr_reader :table
  alias table! table
  private :table!
  protected :table!
  private :table

  def ==(other)
    return false unless other.kind_of?(OpenStruct)
    @table == other.table!
  end

  def eql?(other)
    return false unless other.kind_of?(OpenStruct)
    @table.eql?(other.table!)
  end

  def hash = @table.hash

  # Old versions wrote a variable that held them all.
  def init_with(coder)
    values = coder.map
    update_to_values!(values.keys == ["table"] ? values["table"] : values)
  end

  def encode_with(coder)
    @table.each_pair { |k, v| coder[k.to_s] = v }
  end

  def respond_to_missing?(mid, include_private = false)
    mname = mid.to_s.chomp("=").to_sym
    defined?(@table) && @table.key?(mname) || super
  end

  # Every public method is also there with a bang, for objects whose fields shadow it.
  instance_methods.each do |m|
    next if m.match?(/\W$/)
    alias_method :"#{m}!", m
  end
  alias_method :raise!, :raise
  private :raise!
  class << self
    alias_method :allocate, :new
  end
end
