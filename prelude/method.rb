# Method and UnboundMethod: how they are shown, composed and curried.
module KumiSys
  # (a, b=..., *c, d:, e: ..., **f, &g)
  def self.parameter_text(list)
    out = list.map do |kind, name|
      case kind
      when :req then name ? name.to_s : "_"
      when :opt then "#{name || "_"}=..."
      when :rest then name && name != :* ? "*#{name}" : "*"
      when :keyreq then "#{name}:"
      when :key then "#{name}: ..."
      when :keyrest then name && name != :** ? "**#{name}" : "**"
      when :nokey then "**nil"
      when :block then name && name != :& ? "&#{name}" : "&"
      end
    end
    if out.size >= 3 && out[-3] == "*" && out[-2] == "**" && out[-1] == "&"
      out = out[0, out.size - 3] << "..."
    end
    "(#{out.join(", ")})"
  end

  def self.method_text(m, receiver_class)
    owner = m.owner
    attached = __attached(owner)
    s = +"#<#{__class_name(__class(m))}: "
    if !__undef?(attached)
      if __undef?(receiver_class)
        s << __class_name(owner) << "#"
      elsif __same(m.receiver, attached)
        s << inspect(attached) << "."
      else
        s << inspect(m.receiver) << "(" << inspect(attached) << ")."
      end
    else
      if __undef?(receiver_class) || __same(receiver_class, owner)
        s << __class_name(owner)
      else
        s << __class_name(receiver_class) << "(" << __class_name(owner) << ")"
      end
      s << "#"
    end
    s << m.name.to_s
    s << "(#{m.original_name})" unless __same(m.original_name, m.name)
    s << parameter_text(m.parameters)
    place = m.source_location
    s << " #{place[0]}:#{place[1]}" if place
    s << ">"
  end
end

class Method
  def inspect
    c = __method_class(self)
    r = receiver
    # A singleton class that adds nothing is not worth showing.
    c = __is_a(r, Module) ? singleton_or_class(r, c) : __class(r)
    KumiSys.method_text(self, c)
  end
  alias to_s inspect

  def singleton_or_class(r, c)
    c.singleton_class? ? c : __class(r)
  end
  private :singleton_or_class

  def to_proc
    __method_proc(self)
  end

  def curry(n = nil)
    unless __same(n, nil)
      n = KumiSys.to_cint(n)
      a = arity
      least = a >= 0 ? a : -a - 1
      kinds = parameters.map { |kind, _| kind }
      most = kinds.include?(:rest) ? nil : kinds.count { |kind| kind == :req || kind == :opt }
      KumiSys.arity_error(n, least, most) if n < least || (most && n > most)
    end
    to_proc.curry(n)
  end

  def >>(other)
    raise TypeError, "callable object is expected" unless __is_a(other, Proc) || __is_a(other, Method) || other.respond_to?(:call)
    me = self
    lambda { |*args, **opts, &block| other.call(me.call(*args, **opts, &block)) }
  end

  def <<(other)
    raise TypeError, "callable object is expected" unless __is_a(other, Proc) || __is_a(other, Method) || other.respond_to?(:call)
    me = self
    if __is_a(other, Proc) && !other.lambda?
      return proc { |*args, **opts, &block| me.call(other.call(*args, **opts, &block)) }
    end
    lambda { |*args, **opts, &block| me.call(other.call(*args, **opts, &block)) }
  end
end

class UnboundMethod
  def inspect
    KumiSys.method_text(self, __undef)
  end
  alias to_s inspect

  def bind_call(receiver, *args, **opts, &block)
    bind(receiver).call(*args, **opts, &block)
  end
end
