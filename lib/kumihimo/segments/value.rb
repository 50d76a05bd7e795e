# frozen_string_literal: true

module Kumihimo
  module Segments
    # How values are handed over. A shared value is deeply frozen; an owned one is its taker's alone.
    module Value
      class << self
        # Freezes it deeply, or raises and has frozen nothing.
        def shared(value) = __shareable(value) ? value : Ractor.make_shareable(value)

        # The object itself under a new root: whoever has the old one can use it no more. What cannot change is shared.
        def owned(value) = __seg_own(value)
      end
    end
  end
end
