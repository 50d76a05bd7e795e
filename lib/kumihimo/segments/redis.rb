# frozen_string_literal: true

module Kumihimo
  module Segments
    class << self
      # The manager of a store on Redis or Valkey, which outlives this program; any number of nodes may use one. Addresses:
      # "redis://user:password@host:6379/0", "rediss://.." with TLS, "unix:/run/redis.sock", "redis+cluster://host:7000,host:7001"; behind ? namespace=, client_name=.
      #
      # namespace: what keys begin with there: two clusters on one store do not meet. authority: the PEM file of who signs the server's
      # certificate, where the system does not know them; certificate:, key: this program's own. timeout: seconds until it must serve.
      # lease: seconds for which a `take` guards its segment on the way. patience: seconds that calls wait for a store that is away.
      def connect(address, user: nil, password: nil, namespace: nil, authority: nil, certificate: nil, key: nil,
                  timeout: 5, lease: nil, patience: nil)
        raise TypeError, "an address is a String, not #{address.inspect}" unless address.is_a?(String)
        raise ArgumentError, "certificate: and key: belong together" if certificate.nil? != key.nil?
        lease = Calls.nanoseconds(lease, "lease")
        patience = Calls.nanoseconds(patience, "patience")
        peer, there = __seg_redis(address, user, password, namespace&.to_s, authority, certificate, key, lease, patience)
        store = RedisManager.__send__(:new, peer, there)
        begin
          worries = wait_for_store(there, timeout)
        rescue Exception
          store.close
          raise
        end
        warn "kumi: #{store.where}: what was acknowledged may be lost: #{worries}" if worries.is_a?(String)
        Stores.add(store)
        store
      end

      # What its settings may lose, or true.
      def wait_for_store(there, timeout)
        deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + timeout
        pause = 0.001
        loop do
          over = Process.clock_gettime(Process::CLOCK_MONOTONIC) >= deadline
          found = __seg_redis_ready(there, over)
          return found if found
          sleep pause
          pause = [pause * 1.5, 0.05].min
        end
      end
      private :wait_for_store
    end

    # Stores are closed when the program ends: what it holds comes back at once.
    module Stores
      LOCK = Mutex.new
      private_constant :LOCK

      def self.add(store)
        LOCK.synchronize do
          # A forked child has no connections.
          if @process != Process.pid
            @process = process = Process.pid
            @open = []
            at_exit { @open.each(&:close) if Process.pid == process }
          end
          @open << store
        end
      end

      def self.remove(store)
        LOCK.synchronize { @open&.delete(store) }
      end
    end
    private_constant :Stores

    # The proxy of a store on Redis or Valkey.
    class RedisManager < StoreManager
      def close
        Stores.remove(self)
        super.tap { __seg_redis_rest(@there) }
      end

      def initialize(peer, there)
        super(peer)
        @there = there
      end

      # See Watch. Where the connection was lost, `missed` is one more.
      def watch(key, limit: 1000) = StoreWatch.__open(@there, key, limit)
    end

    # What happens under a key of a store.
    class StoreWatch < Watch
      def self.__open(there, key, limit)
        raise ArgumentError, "a watch's limit is a positive Integer" unless limit.is_a?(Integer) && limit.positive?
        watch = __seg_redis_watch(there, key, limit)
        __seg_redis_watch_begun(watch)
        new(watch)
      end

      def next(timeout: nil)
        found = __seg_redis_watch_next(@core, KumiSys.deadline(timeout))
        return nil if __same(found, nil)
        raise TimeoutError, "no event within #{timeout} s" if __same(found, NOTHING)
        Event.new(*found)
      end

      def close
        __seg_redis_unwatch(@core)
        nil
      end
    end
    private_constant :RedisManager, :StoreWatch
  end
end
