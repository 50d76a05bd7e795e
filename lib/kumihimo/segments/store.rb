# frozen_string_literal: true

module Kumihimo
  module Segments
    class << self
      # The segments in a file of this machine, which is made where there is none: a manager whose segments outlive the program. Once
      # a call has returned, what it changed is on the disk. One process at a time has a file open; in it there is one manager of each
      # file. With a block, which gets the manager, the file is closed when the block ends.
      def open(path)
        store = FileStore.__of(path)
        return store unless block_given?
        begin
          yield store
        ensure
          store.close
        end
      end
    end

    # See Segments.open. The calls are a manager's. Values are encoded, as between nodes.
    class FileStore < StoreManager
      LOCK = Mutex.new
      private_constant :LOCK
      @open = {}

      class << self
        def __of(path)
          path = File.expand_path(path).freeze
          LOCK.synchronize do
            # A forked child has not what its parent has opened.
            @open = {} if @process != Process.pid
            @process = Process.pid
            store = @open[identity(path)]
            next store if store
            store = new(path)
            @open[identity(path)] = store
          end
        end

        def __closed(store)
          LOCK.synchronize { @open.delete_if { |_, other| __same(other, store) } }
        end

        private

        # A file may have several names.
        def identity(path)
          stat = File.stat(path)
          [stat.dev, stat.ino]
        rescue SystemCallError
          nil
        end
      end

      # The file.
      attr_reader :path

      def initialize(path)
        @path = path
        @store = __seg_store_open(path)
        super(__seg_store_proxy(@store))
      end

      # Counts: transactions that were ever written to the file; calls, and waits for the disk, since it was opened; its length.
      def counts
        groups, calls, syncs, bytes = __seg_store_counts(@store)
        { groups:, calls:, syncs:, bytes: }
      end

      # See Manager#watch. An event is told once it is on the disk.
      def watch(key, limit: 1000)
        key = key.name if key.is_a?(RemoteKey)
        raise TypeError, "#{key.inspect} is no key: give a String or a Symbol" unless key.is_a?(String) || key.is_a?(Symbol)
        Watch.__open_store(@store, key.to_s, limit)
      end

      # Ends all calls that wait, with NotConnected, and all watches, and closes the file. It may be opened again then.
      def close
        super
        FileStore.__closed(self)
        self
      end
    end
  end
end
