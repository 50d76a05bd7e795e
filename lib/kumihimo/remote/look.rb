# frozen_string_literal: true

module Kumihimo
  module Remote
    # What `GC.stat(:cluster)` gives.
    module RemoteParts::Counts
      NAMES = %i[exports imports parcels operations_waiting packets bytes released swept rounds nodes_lost rounds_ended round_collections marks
        suspects].freeze
      private_constant :NAMES

      def stat(what = nil) = what == :cluster ? NAMES.zip(__rem_stat).to_h : what.nil? ? super() : super
    end

    # So long other nodes have to say what is held of them.
    RemoteParts::SOON = 0.5
    RemoteParts::BETWEEN = %i[node holds held calls called].freeze

    class << self
      # How this node stands with others: `objects` of it that others hold, `imports`, objects of others that it holds; of each node that
      # answers, how many of this node's objects it `holds`, how many of its own this node has (`held`), `calls` of it that have no answer yet,
      # and calls of this node by it that are under way (`called`). `links` are those of all nodes: which one has references to how many objects of
      # which other one.
      def survey
        nodes = (__rem_between || []).map { |row| RemoteParts::BETWEEN.zip(row).to_h }
        { **GC.stat(:cluster).slice(:exports, :imports), nodes:, links: __links(nodes) }
      end

      # Sums of this node.
      def __counts
        rows = __rem_between || []
        { **GC.stat(:cluster).slice(:exports, :imports), calls: rows.sum { |row| row[3] }, called: rows.sum { |row| row[4] } }
      end

      # How many objects of this node which node has.
      def __held = (__rem_between || []).to_h { |name, holds,| [name, holds] }

      private

      def __links(nodes)
        own = Segments.node
        asked = nodes.map { |row| [row[:node], row[:held], __async(row[:node], :held, [], nil, nil, RemoteParts::SOON)] }
        links = nodes.map { |row| [row[:node], own, row[:holds]] }
        asked.each do |name, held, future|
          links.concat(future.value.map { |holder, objects| [holder, name, objects] })
        rescue RemoteError, NodeLostError
          # What this node knows of it.
          links << [own, name, held]
        end
        links.filter_map { |from, to, objects| { from:, to:, objects: } if objects > 0 }.sort_by { |link| link.values_at(:from, :to) }
      end
    end
    GC.singleton_class.prepend(RemoteParts::Counts)
  end
end

module ObjectSpace
  # This node's objects that other nodes hold, or are being handed: each with the names of those nodes.
  def self.exports = __rem_exports.each_with_object({}.compare_by_identity) { |(object, names), all| all[object] = names }
end
