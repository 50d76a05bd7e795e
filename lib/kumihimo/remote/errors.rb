# frozen_string_literal: true

module Kumihimo
  # A method of another node's object raised something whose class is not known here, or is not one that others may raise here.
  class RemoteError < StandardError
    # The name of the class there.
    attr_reader :remote_class

    def initialize(message = nil, remote_class = nil)
      super(message)
      @remote_class = remote_class
    end
  end

  # The node of an object is gone or out of reach.
  class NodeLostError < StandardError
    # What is known of the call: :not_sent, it was not done; :perhaps_done; :done, and what it returned is lost. Of one that another node
    # made for this one, :perhaps_done.
    def outcome = @outcome || :perhaps_done

    def initialize(message = nil, outcome = :not_sent)
      super(message)
      @outcome = outcome
    end
  end

  module Remote
    # The object was collected, or never was: the reference is of an earlier life of its node, or made up.
    class NoObject < RemoteError; end

    # The call was not done: it can't be made like this, or that node takes no more of them.
    class Refused < RemoteError; end

    # The time was over. What was called is interrupted where it runs.
    class TimeoutError < RemoteError; end

    # Interrupts what nobody waits for any more. No StandardError: methods that rescue all of those end as well.
    class CalledOff < Exception
      attr_reader :run

      # run: what is called off; without, whatever runs.
      def initialize(message = nil, run = nil)
        super(message)
        @run = run
      end
    end
  end
end
