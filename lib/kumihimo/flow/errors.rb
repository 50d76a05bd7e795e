# frozen_string_literal: true

module Kumihimo
  module Flow
    class Error < StandardError; end

    # An input that was said to be sorted is not.
    class UnsortedError < Error; end

    # A key came twice on the side that was said to have unique ones.
    class UniqueError < Error; end

    # Elements could not be written to the temporary file, or not be read back.
    class SpillError < Error; end
  end
end
