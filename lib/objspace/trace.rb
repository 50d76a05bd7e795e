# frozen_string_literal: true

# Traces allocations from the start; `p` shows where an object comes from.
require "objspace"

module Kernel
  remove_method :p

  define_method(:p) do |*objs|
    objs.each do |obj|
      file = ObjectSpace.allocation_sourcefile(obj)
      line = ObjectSpace.allocation_sourceline(obj)
      puts(file ? "#{obj.inspect} @ #{file}:#{line}" : obj.inspect)
    end
    objs.size <= 1 ? objs.first : objs
  end
end

ObjectSpace.trace_object_allocations_start
warn "objspace/trace is enabled"
