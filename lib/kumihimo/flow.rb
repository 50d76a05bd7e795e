# frozen_string_literal: true

# Flows: lazy operators over anything that can be enumerated, and over several inputs at once.
#
# Invariants that every operator keeps:
# - Nothing runs until the flow is read, and only what the reader needs is run. A flow holds no state of a reading: it can be
#   read again, and by several readers, as far as its inputs can.
# - A flow is read in one of two ways. `each` is internal iteration, with no buffer and no task between an operator and its
#   input. `flow_reader` is a reader that never waits, which is what an operator over several inputs needs (see Flow::Reader).
# - However a reading ends, its inputs are closed, its threads are gone and its temporary files are removed.
# - What came before an error in an input is delivered; then the error is raised.
module Kumihimo
  # A Flow of the elements of `source`: an Enumerable, a queue (until it is closed), an IO (its lines), a flow.
  def self.flow(source) = Flow.from(source)

  # The operators. Included by every flow, and by the lists of XML trees; the includer has `each`, and `flow_reader` if it
  # can be read without waiting. Methods that return a flow are lazy; those of Enumerable that return something else read it.
  #
  # A class that includes this finds its constants before the program's own: only those that programs are to use are here. All
  # others are in Operators. For the same reason hidden methods and variables of classes that programs inherit from begin with `__`.
  module Flow
    include Enumerable

    def self.from(source)
      source.is_a?(Flow) ? source : Operators::Source.new(source)
    end

    # The block of the operator `name`. As with a lazy enumerator there must be one: an Enumerator over a call that only makes a
    # flow would have no elements.
    def self.block(block, name)
      block || raise(ArgumentError, "#{name} needs a block (with the index: with_index.#{name} { |element, index| ... })")
    end

    # ---- one input, element by element

    def map(&block) = Operators::Map.new(self, Flow.block(block, :map))
    alias collect map

    def select(&block) = Operators::Select.new(self, Flow.block(block, :select))
    alias filter select

    def reject(&block) = Operators::Reject.new(self, Flow.block(block, :reject))
    def filter_map(&block) = Operators::FilterMap.new(self, Flow.block(block, :filter_map))
    def flat_map(&block) = Operators::FlatMap.new(self, Flow.block(block, :flat_map))
    alias collect_concat flat_map

    def compact = Operators::Reject.new(self, :nil?.to_proc)

    # For each element the flow of the block's results over its nested list: the list that `field` names (a method, or a key
    # of a Hash or Array), or the element itself. The block is given the nested element and the outer one (the paper's ListMap).
    def list_map(field = nil, &block)
      raise ArgumentError, "list_map needs a block" unless block
      Operators::ListMap.new(self, Operators::Key.of(field), block)
    end

    # The first n elements, as a flow (`first(n)` reads them into an Array). The input is closed as soon as it has n.
    def take(count) = Operators::Take.new(self, count)
    def take_while(&block) = Operators::TakeWhile.new(self, Flow.block(block, :take_while))
    def drop(count) = Operators::Drop.new(self, count)
    def drop_while(&block) = Operators::DropWhile.new(self, Flow.block(block, :drop_while))

    # Pairs of an element and its index.
    def with_index(offset = 0, &block)
      indexed = Operators::WithIndex.new(self, offset)
      block ? indexed.map { |element, index| block.call(element, index) } : indexed
    end

    # An operator of your own: `list.through(Smooth, 3)` is `Smooth.new(list, 3)`.
    def through(operator, ...)
      return operator.new(self, ...) if operator.is_a?(Class) && operator <= Flow
      raise ArgumentError, "through takes a class of operators (a subclass of Kumihimo::Flow::Operator), not #{operator.inspect}"
    end

    # ---- one input, as a whole

    # The first element of each value of `by`, as soon as it comes.
    def distinct(by = nil, memory: nil, rows: nil, codec: Marshal, &block)
      Operators::Distinct.new(self, Operators::Key.of(block || by), Operators::Budget.options(memory, rows, codec))
    end
    alias uniq distinct

    # Pairs [key, elements]. With `sorted: true` the input comes in the order of its keys (or at least with equal keys
    # together), and a group comes out when its key has passed. Otherwise all come at the end.
    def group_by(by = nil, sorted: false, memory: nil, rows: nil, codec: Marshal, &block)
      key = Operators::Key.of(block || by || raise(ArgumentError, "group_by needs a key or a block"))
      sorted ? Operators::SortedGroups.new(self, key) : Operators::Groups.new(self, key, Operators::Budget.options(memory, rows, codec))
    end

    # All elements in the order of `by`, or of a block that compares two of them. Not stable.
    def sort(by = nil, reverse: false, memory: nil, rows: nil, codec: Marshal, &compare)
      Operators::Sort.new(self, Operators::Key.of(by), compare, reverse, Operators::Budget.options(memory, rows, codec))
    end

    def sort_by(by = nil, reverse: false, memory: nil, rows: nil, codec: Marshal, &block)
      key = Operators::Key.of(block || by || raise(ArgumentError, "sort_by needs a key or a block"))
      Operators::Sort.new(self, key, nil, reverse, Operators::Budget.options(memory, rows, codec))
    end

    # The n elements with the largest key, largest first; with `least: true` the smallest, smallest first. Of equal ones the
    # first that came. Holds about 2n elements.
    def top(count, by = nil, least: false, &block) = Operators::Top.new(self, count, Operators::Key.of(block || by), least)

    # Windows (Operators::Window) of consecutive elements:
    #   window(100)                         100 elements each
    #   window(100, step: 10)               sliding: the last 100, every 10
    #   window(60, by: :time)               60 seconds each, aligned to multiples of 60; `step:` for sliding ones
    #   window(gap: 30, by: :time)          sessions: an element more than 30 after the one before begins a new one
    #   window { |before, element| ... }    the block says whether the element begins a new window
    # `lateness:` is how far behind the newest an element may be when windows go by key.
    def window(size = nil, step: nil, gap: nil, by: nil, lateness: 0, &block)
      Operators::Windows.build(self, size, step, gap, by && Operators::Key.of(by), lateness, block)
    end

    # ---- several inputs, read concurrently

    # Pairs [left, right], or what the block makes of them, of elements that belong together:
    #   on: :key | [:left_key, :right_key] | a proc     equal keys, as in a Hash; nil is equal to nothing (as in SQL)
    #   range: [left, right]                            one gives a value, the other a Range or [low, high] that covers it,
    #                                                   or both a Range and they overlap
    #   on: ..., band: low..high                        right key - left key lies in the range
    #   where: ->(left, right) { }                      any condition, alone or besides these
    # `kind` is :inner, :left, :right, :full, :semi or :anti; the last two give left elements. `unique: :left`, `:right` or
    # `:both` says on which side keys don't repeat: what was matched by such a key need not be kept.
    # `memory: "64M"` or `rows: n` bounds the tables: what is more goes to a temporary file.
    def join(other, **options, &construct) = Join.new(self, other, **options, &construct)

    # The join of two inputs that come in the order of their keys. Holds the elements of one key only.
    def merge_join(other, on:, kind: :inner, &construct) = Operators::MergeJoin.new(self, other, on: on, kind: kind, &construct)

    # Each left element with the newest right one that is not after it. Both come in the order of `on`; `by` must be equal;
    # `within` is the greatest difference. With `kind: :inner` a left element without such a right one is left out.
    def asof_join(other, on:, by: nil, within: nil, kind: :left, &construct)
      Operators::AsOfJoin.new(self, other, on: on, by: by, within: within, kind: kind, &construct)
    end

    # Elements of any of the inputs, in the order in which they arrive: each once, or with `all: true` as often as it comes.
    def union(*others, all: false, memory: nil, rows: nil, codec: Marshal)
      together = Operators::Interleave.new(self, *others)
      all ? together : together.distinct(memory: memory, rows: rows, codec: codec)
    end

    # Elements that are in both: each once, or with `all: true` as often as it is in the one that has it less often.
    # `bound` is memory:, rows: and codec:.
    def intersect(other, all: false, **bound) = Operators::Multiset.of(self, other, :intersect, all, **bound)
    alias intersection intersect

    # Elements that are not in the other: each once, or with `all: true` each of the other's takes away one of ours.
    def except(other, all: false, **bound) = Operators::Multiset.of(self, other, :except, all, **bound)
    alias difference except

    # One flow in order of inputs that are in order.
    def merge(*others, by: nil, &block) = Operators::SortedMerge.new(self, *others, by: block || by)

    # Arrays of the elements with the same index; nil where another has ended before this one.
    def zip(*others, &block)
      zipped = Operators::Zip.new(self, *others)
      block ? zipped.each(&block) && nil : zipped
    end

    # A reader that never waits, for operators over several inputs. Lists and operators have better ones than this, which
    # lets a thread run `each`.
    def flow_reader = Operators::Feeder.new(self)
  end
end

require_relative "flow/errors"
require_relative "flow/key"
require_relative "flow/waiting"
require_relative "flow/source"
require_relative "flow/feeder"
require_relative "flow/budget"
require_relative "flow/spill"
require_relative "flow/operator"
require_relative "flow/elements"
require_relative "flow/bounded"
require_relative "flow/distinct"
require_relative "flow/group"
require_relative "flow/sort"
require_relative "flow/top"
require_relative "flow/window"
require_relative "flow/turns"
require_relative "flow/together"
require_relative "flow/sorted"
require_relative "flow/multiset"
require_relative "flow/join"
require_relative "flow/merge"
