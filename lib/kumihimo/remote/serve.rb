# frozen_string_literal: true

module Kumihimo
  module Remote
    # Threads that answer other nodes' calls.
    #
    # Invariant: while this program is a node, one of them at least waits for calls: whoever takes the last one's place begins another
    # before it does the call. While calls wait, another one is on its way, so that one that waits itself keeps none behind it waiting. A
    # thread does one call after the other; none finds what the one before has left of thread-locals, or its priority.
    module RemoteParts::Service
      # So many wait for calls; others end when they have none.
      IDLE = 16
      NAME = "remote calls"
      NEVER = { CalledOff => :never }.freeze
      AT_ONCE = { CalledOff => :immediate }.freeze
      # The same as threads have it that do nothing but calls, where a call is none's and where it is on.
      SHUT = [nil, CalledOff, 2].freeze
      OPEN = [SHUT, CalledOff, 0].freeze
      private_constant :IDLE, :NAME, :NEVER, :AT_ONCE, :SHUT, :OPEN

      class << self
        # From now on, where this program is a node, or as soon as it is.
        def start
          Segments.__send__(:on_listen) { begin_service }
        end

        # A call that came, answered by what the block gives. own: nothing that it raises is this thread's affair, `exit` neither.
        #
        # Invariant: it is entered and left with CalledOff masked. It comes while the block is called, or waits; before the answer is
        # given all that was to come has come, and what was meant for a run around this one goes on to it.
        def answer(run, ends, own = false)
          outcome = :left
          begin
            value = ends ? limited(run, ends) { yield } : Thread.handle_interrupt(AT_ONCE) { yield }
            outcome = :value
          rescue CalledOff => stop
            outcome = :late if ends && KumiSys.deadline(0) >= ends
          rescue StandardError, ScriptError => error
            outcome = :raised
          rescue Exception => error
            raise unless own
            outcome = :raised
          ensure
            finish(run, stop, outcome, value, error)
          end
        end

        # A call of the block that was given to a call of ours, on the thread that waits for that one.
        def answer_back(call)
          Thread.handle_interrupt(NEVER) do
            run, _, _, arguments, keywords, blocks, ends = __rem_back(call)
            answer(run, ends) { __rem_block(call).call(*arguments, **keywords, &block_of(run, blocks)) } if run
          end
        end

        # The block that a run's caller has, as one here.
        def block_of(run, has)
          return unless has
          proc { |*arguments, **keywords, &block| Remote.__call(run, :call, arguments, keywords, block) }
        end

        private

        def begin_service
          __rem_start
          serve(NAME) { serve_calls(1) }
          serve("remote calls that are called off") { call_off }
        end

        def serve(what)
          thread = KumiSys.thread_apart(what) do
            yield
          rescue Segments::NotConnected
            # It has left.
          end
          thread.report_on_exception = false
        end

        def serve_calls(how)
          __thread_set_masks(SHUT)
          begin
            nil while (how = serve_next(how))
          rescue Segments::NotConnected
            # It has left.
          rescue CalledOff, StandardError, NoMemoryError
            # It was meant for none that runs; or keys of a hash in the arguments have a `hash` of their own that raises; or there is no room for the
            # arguments, and the call is answered as one that was not done.
            how = 0
            retry
          ensure
            __rem_ends(true)
          end
        end

        # Does a call, and tells how to go on. Whoever waits for the next one holds nothing of the one before.
        def serve_next(how)
          row = __rem_next(IDLE, how)
          if row.nil?
            return
          elsif __same(row, false)
            begin_anew(Thread.current)
            return how
          elsif __same(row, true)
            return serve_another
          elsif row.size == 4
            perform(row)
          else
            perform_other(*row)
          end
          0
        end

        # A call has changed its thread.
        def begin_anew(thread)
          thread.priority = 0
          thread.abort_on_exception = thread.report_on_exception = false
          __rem_forget(thread)
        end

        # How this thread goes on: alone, where there can be no other one.
        def serve_another
          begun = false
          serve(NAME) { serve_calls(1) }
          begun = true
          0
        rescue ThreadError, NoMemoryError
          2
        ensure
          __rem_ends(false) unless begun
        end

        # Whatever was to interrupt this run has done so, and nothing more comes for it. What comes for others; nil.
        def settled(run, stop)
          return unless __rem_settle(run) || stop
          others = stop if stop && stop.run && !__rem_same_run(stop.run, run)
          while Thread.pending_interrupt?(CalledOff)
            begin
              Thread.handle_interrupt(AT_ONCE) { Thread.pass }
            rescue CalledOff => late
              others = late if late.run && !__rem_same_run(late.run, run)
            end
          end
          others
        end

        def conclude(run, outcome, value, error)
          case outcome
          when :value then __rem_answer(run, value)
          when :raised then raised(run, error)
          when :late then raised(run, TimeoutError.new("its time was over"))
          else __rem_not_done(run)
          end
        rescue StandardError => error
          # What it returned can't travel.
          raised(run, error)
        end

        # A call without keywords, block and time. See `answer`.
        def perform(row)
          run = row[0]
          outcome = :left
          done = false
          begin
            begin
              __thread_set_masks(OPEN)
              value = __rem_do(row)
            ensure
              __thread_set_masks(SHUT)
            end
            outcome = :value
            done = __rem_done(run, value)
          rescue CalledOff => stop
            outcome = :left
          rescue Exception => error
            outcome = :raised
          ensure
            finish(run, stop, outcome, value, error) unless done
          end
        end

        def perform_other(run, object, name, arguments, keywords, blocks, ends)
          answer(run, ends, true) do
            if __same(object, nil)
              RemoteParts::Desk.answer(name, arguments)
            elsif __same(object, true)
              __rem_block_of(run).call(*arguments, **keywords, &block_of(run, blocks))
            elsif Reference === object
              # It has moved: this node makes the call there, and the caller hears of it.
              Remote.__call(object, name, arguments, keywords, block_of(run, blocks))
            elsif keywords
              object.__send__(name, *arguments, **keywords, &block_of(run, blocks))
            else
              object.__send__(name, *arguments, &block_of(run, blocks))
            end
          end
        end

        def finish(run, stop, outcome, value, error)
          others = settled(run, stop)
          conclude(run, outcome, value, error)
          raise others if others
        end

        # Interrupts runs that nobody wants any more. One that is to be interrupted does not end before it is.
        def call_off
          while (run, thread = __rem_called_off)
            thread.raise(CalledOff.new("the call was called off", run))
            __rem_interrupted(run)
          end
        end

        # Ends in time, and so do the calls that it makes. What the limit sends when the block is just being left is taken back.
        def limited(run, ends)
          before = Remote.__end
          Thread.current[:__kumihimo_end] = before && before < ends ? before : ends
          what = CalledOff.new("its time was over", run)
          limit = __limit(ends, what)
          begin
            Thread.handle_interrupt(AT_ONCE) { yield }
          ensure
            __limit_over(limit, what)
            Thread.current[:__kumihimo_end] = before
          end
        end

        def raised(run, error)
          # What has come from a third node goes on as that node called it.
          name = error.instance_of?(RemoteError) && error.remote_class || error.class.name
          parts = [name.to_s, message_of(error), Array(error.backtrace).first(200), Segments.node.to_s]
          __rem_raised(run, parts)
        rescue StandardError
          __rem_not_done(run)
        end

        def message_of(error)
          message = error.message
          String === message ? message : message.to_s
        rescue StandardError
          "its message can't be told"
        end
      end
    end
  end
end
