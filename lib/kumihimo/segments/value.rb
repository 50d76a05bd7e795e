# frozen_string_literal: true

module Kumihimo
  module Segments
    # How values are handed over. A shared value is deeply frozen; an owned one is its taker's alone.
    module Value
      # KUMI_SEGMENT_STRESS copies at every hand-over, so that a program that relies on identity is found out.
      STRESS = ENV["KUMI_SEGMENT_STRESS"].to_i.positive?

      class << self
        # Freezes it deeply, or raises and has frozen nothing.
        def shared(value) = __shareable(value) ? value : Ractor.make_shareable(value)

        # The object itself under a new root: whoever has the old one can use it no more. What cannot change is shared.
        def owned(value) = __seg_own(value)

        if STRESS
          def handed(value) = __frozen(value) && Ractor.shareable?(value) ? Ractor.make_shareable(value, copy: true) : KumiSys.ractor_copy(value, {}.compare_by_identity, false)
        end
      end
    end
  end
end
