# frozen_string_literal: true

# Topological order and strongly connected components (Tarjan).
module TSort
  VERSION = "0.2.0"

  class Cyclic < StandardError; end

  def tsort = TSort.tsort(method(:tsort_each_node), method(:tsort_each_child))
  def tsort_each(&block) = TSort.tsort_each(method(:tsort_each_node), method(:tsort_each_child), &block)
  def strongly_connected_components = TSort.strongly_connected_components(method(:tsort_each_node), method(:tsort_each_child))

  def each_strongly_connected_component(&block)
    TSort.each_strongly_connected_component(method(:tsort_each_node), method(:tsort_each_child), &block)
  end

  def each_strongly_connected_component_from(node, id_map = {}, stack = [], &block)
    TSort.each_strongly_connected_component_from(node, method(:tsort_each_child), id_map, stack, &block)
  end

  def tsort_each_node
    raise NotImplementedError
  end

  def tsort_each_child(_node)
    raise NotImplementedError
  end

  def self.tsort(each_node, each_child) = tsort_each(each_node, each_child).to_a

  def self.tsort_each(each_node, each_child)
    return to_enum(__method__, each_node, each_child) unless block_given?
    each_strongly_connected_component(each_node, each_child) do |component|
      if component.size == 1
        yield component.first
      else
        raise Cyclic, "topological sort failed: #{component.inspect}"
      end
    end
  end

  def self.strongly_connected_components(each_node, each_child)
    each_strongly_connected_component(each_node, each_child).to_a
  end

  def self.each_strongly_connected_component(each_node, each_child, &block)
    return to_enum(__method__, each_node, each_child) unless block_given?
    id_map = {}
    stack = []
    each_node.call do |node|
      unless id_map.include?(node)
        each_strongly_connected_component_from(node, each_child, id_map, stack, &block)
      end
    end
    nil
  end

  # Number of the oldest node reachable; a component is complete when that is the node itself.
  def self.each_strongly_connected_component_from(node, each_child, id_map = {}, stack = [], &block)
    return to_enum(__method__, node, each_child, id_map, stack) unless block_given?
    minimum = number = id_map[node] = id_map.size
    position = stack.length
    stack << node
    each_child.call(node) do |child|
      if id_map.include?(child)
        known = id_map[child]
        minimum = known if known && known < minimum
      else
        low = each_strongly_connected_component_from(child, each_child, id_map, stack, &block)
        minimum = low if low < minimum
      end
    end
    if number == minimum
      component = stack.slice!(position..-1)
      component.each { |n| id_map[n] = nil }
      yield component
    end
    minimum
  end
end
