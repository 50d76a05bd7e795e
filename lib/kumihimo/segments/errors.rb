# frozen_string_literal: true

module Kumihimo
  module Segments
    class Error < StandardError; end

    # Nothing came in time.
    class TimeoutError < Error; end

    # An owned segment can be taken, not peeked at.
    class NotShared < Error; end

    # An index that this manager has not given out: of an earlier incarnation, or made up.
    class StaleIndex < Error; end

    # The code segment does not run: its inputs and outputs are there in `run` only.
    class NotRunning < Error; end

    # The program is no node, or the node is not there.
    class NotConnected < Error; end

    # A node does not let this one do that with that key.
    class NotAllowed < Error; end

    # The key of a group went to another node while it was waited for. The group asks there.
    class Moved < Error; end
    private_constant :Moved

    # A node can't listen or join as it was told.
    class LinkError < Error; end

    # A node was lost while it was asked: the call may have been done or not.
    class NodeLost < Error; end

    # The queue is full, or a node keeps no more for this one.
    class Full < Error; end

    # A part of a value can't leave its node: the message says which, where in the value, and why.
    class NotTransferable < Error; end

    # A store refuses a call or can't do it: nothing was done.
    class StoreError < Error; end

    # Bytes from another node are no value, or more than is allowed.
    class Malformed < Error; end

    # Somebody else may have the segment: the lease was over.
    class LeaseOver < Error; end
  end
end
