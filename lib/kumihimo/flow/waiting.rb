# frozen_string_literal: true

module Kumihimo
  module Flow
    # A reader's contract, which lists, sources and operators keep:
    #   take_batch(max)   an Array of 1 to max elements that can be had without waiting; [] when there is none now; nil at the
    #                     end. Raises what the input failed with, after all that came before it has been taken.
    #   wait_handle       what Flow.wait needs to know to wait for it: nil when it need not wait, a Bell, an Array of handles,
    #                     or a native handle of a list.
    #   close             the rest is not wanted. May be called again.
    # A reader belongs to one task at a time.
    module Reader
      # So many of the inputs read beside this one have ended, so that its elements may be of another use from now on: a join
      # keeps them no longer. Tells the collector's history of elements; nothing comes out differently.
      def others_ended(_count) = nil
    end

    # Parks the calling task until one of the readers may have something. May return early.
    def self.wait(readers)
      handles = []
      readers.each do |reader|
        handle = reader.wait_handle
        return if handle.nil? || (handle.is_a?(Array) && !Operators::Waiting.flatten(handle, handles))
        handles << handle unless handle.is_a?(Array)
      end
      Operators::Waiting.wait(handles) unless handles.empty?
    end
  end

  module Operators
    # Waiting for things of two kinds at once: bells, which are Ruby, and native handles (`Flow.wait_native` parks on those).
    module Waiting
      # False when one of them need not wait.
      def self.flatten(handle, into)
        handle.each do |part|
          case part
          when nil then return false
          when Array then return false unless flatten(part, into)
          else into << part
          end
        end
        true
      end

      def self.wait(handles)
        bells, natives = handles.partition { |handle| handle.is_a?(Bell) }
        return Flow.wait_native(natives) if bells.empty?
        ear = Thread::Queue.new
        watcher = nil
        begin
          return unless bells.all? { |bell| bell.watch(ear) }
          unless natives.empty?
            watcher = Thread.new do
              Flow.wait_native(natives)
              ear << true
            end
          end
          ear.pop
        ensure
          bells.each { |bell| bell.unwatch(ear) }
          watcher&.kill
          watcher&.join
        end
      end
    end

    # Somebody has news for whoever waits. `watch` and `ring` exclude each other, so no news is missed: the owner changes its
    # state under `synchronize` and rings there.
    class Bell
      def initialize(&news)
        @lock = Mutex.new
        @ears = []
        @news = news
      end

      attr_reader :lock

      def synchronize(&) = @lock.synchronize(&)

      # False when there is news already: then don't wait.
      def watch(ear)
        @lock.synchronize do
          next false if @news.call
          @ears << ear
          true
        end
      end

      def unwatch(ear) = @lock.synchronize { @ears.delete(ear) }

      # Under `synchronize`.
      def ring
        @ears.shift << true until @ears.empty?
      end
    end
  end
end
