# frozen_string_literal: true

require "uri/generic"

module URI
  # A search in a directory (RFC 4516): its parts stand in path and query, and are put together again when one of them is set.
  class LDAP < Generic
    DEFAULT_PORT = 389
    COMPONENT = %i[scheme host port dn attributes scope filter extensions].freeze
    SCOPE = [SCOPE_ONE = "one", SCOPE_SUB = "sub", SCOPE_BASE = "base"].freeze

    def self.build(args)
      tmp = Util.make_components_hash(self, args)
      tmp[:path] = "/#{tmp[:dn]}" if tmp[:dn]
      query = %i[extensions filter scope attributes].map { |x| tmp[x] }
      query = query.drop_while(&:nil?).reverse
      tmp[:query] = query.join("?") unless query.empty?
      super(tmp)
    end

    def initialize(*arg)
      super(*arg)
      raise InvalidURIError, "bad LDAP URL" if @fragment
      @dn = @path && @path.start_with?("/") ? @path[1..] : @path
      @attributes, @scope, @filter, @extensions = @query&.split("?")
    end

    attr_reader :dn, :attributes, :scope, :filter, :extensions

    %i[dn attributes scope filter extensions].each do |n|
      define_method(:"#{n}=") do |v|
        instance_variable_set("@#{n}", v)
        @path = "/" + @dn if @dn
        q = [@attributes, @scope, @filter, @extensions]
        q.pop while !q.empty? && q.last.nil?
        @query = q.empty? ? nil : q.join("?")
        v
      end
    end

    def hierarchical? = false
  end

  register_scheme :LDAP, LDAP
end
