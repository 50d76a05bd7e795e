# frozen_string_literal: true

module Kumihimo
  module Remote
    # What `GC.stat(:cluster)` gives.
    module Counts
      NAMES = %i[exports imports parcels operations_waiting packets bytes released swept rounds nodes_lost].freeze
      private_constant :NAMES

      def stat(what = nil) = what == :cluster ? NAMES.zip(__rem_stat).to_h : what.nil? ? super() : super
    end
    private_constant :Counts
    GC.singleton_class.prepend(Counts)
  end
end

module ObjectSpace
  # This node's objects that other nodes hold, or are being handed: each with the names of those nodes.
  def self.exports = __rem_exports.to_h.compare_by_identity
end
