# frozen_string_literal: true

# Loaded by `kumi node`: makes the program a node as the command line says.
require "kumihimo/segments"

module Kumihimo
  module Segments
    module Node
      class << self
        # Takes what the command line said out of the environment.
        def start
          list = ->(name) { ENV.delete("KUMI_NODE_#{name}").to_s.split(",") }
          one = ->(name) { ENV.delete("KUMI_NODE_#{name}") }
          serves = one["SERVES"]
          Log.set(one["LOG_LEVEL"] || (serves ? "info" : "error"), one["LOG_FORMAT"] || "auto")
          @notify = ENV.delete("NOTIFY_SOCKET")
          web, token = one["WEB"], one["WEB_TOKEN"]
          name, await, together = one["NAME"], one["AWAIT"], one["TOGETHER"]
          one["RECORD"] # the command's, as the next one
          one["PATIENCE"]
          @drain = (one["DRAIN"] || 5).to_f
          tls = %w[CERT KEY CA].map(&one)
          Segments.listen(name, listen: list["LISTEN"], join: list["JOIN"], public: one["PUBLIC"],
                                certificate: tls[0], key: tls[1], authority: tls[2], insecure: !one["INSECURE"].nil?,
                                hand_over: one["HAND_OVER"], allow: rules(one["ALLOW"]),
                                gc_schedule: one["GC_SCHEDULE"], wait: !await)
          Log.info("start", address: Segments.address)
          if web
            page = Segments.web(web, token:)
            # Who gave the token knows it.
            Log.always("page", address: token ? page.sub(/\?token=.*/, "") : page)
          end
          # A service that is told to reload does not end, whatever there is to reload.
          Signal.trap("HUP") { Thread.new { reload } } if tls.all? || serves || @notify
          # A program that ends meanwhile waits for it.
          at_exit { @draining&.join }
          # What others have handed over goes back to them, also while this node waits for more of them.
          serves ? %w[TERM INT].each { |signal| end_by(signal) { Thread.main.raise(SystemExit) } } : end_by("TERM") { |signal| Thread.main.raise(SignalException, signal) }
          Segments.wait_for_nodes(await.to_i, timeout: START) if await
          notify("READY=1")
          begin_together if together
        rescue Segments::Error, ArgumentError, SystemCallError => error
          # It ends already, by a signal: that interrupts this thread.
          sleep if @ending
          # What the library calls so, the command line calls otherwise.
          warn "kumi node: #{error.message.sub("(advertise)", "(--public)").sub("certificate:, key: and authority:", "--cert, --key and --ca")}"
          drain if Segments.cluster?
          exit! 1
        end

        # A line for each: node, keys and calls with tabs between.
        def rules(text)
          text.to_s.each_line(chomp: true).map { |line| %i[node keys calls].zip(line.split("\t")).to_h }
        end

        # All see each other before the first begins, and none leaves before the last has begun: it would be missed by those that still
        # wait, or have not looked yet. The first by name hears of the rest, and then tells them; the same again when they have begun.
        def begin_together
          first, *rest = Segments.nodes.sort
          if first == Segments.node
            rest.each { Segments.local.take(BEGINS, timeout: START) }
            rest.each { |node| Segments[node].put(BEGINS, true) }
          else
            Segments[first].put(BEGINS, true)
            Segments.local.take(BEGINS, timeout: START)
          end
          stay_until_all_have_begun(first, rest) unless rest.empty?
        end

        def stay_until_all_have_begun(first, rest)
          process = Process.pid
          begun = Thread.new do
            first == Segments.node ? hear_of(rest) : tell(first)
            KumiSys.deadline(LOOK * [__seg_patience, 10].min)
          rescue Segments::Error
            # Who has gone waits for nobody, nor does anybody for him.
          end
          begun.name = "kumi run begins"
          at_exit do
            next unless Process.pid == process && Segments.cluster? && (looked = begun.value)
            sleep [(looked - KumiSys.deadline(0)) / 1e9, 0].max
          end
        end

        # Which have begun? One that is killed never says so.
        def hear_of(rest)
          missing = rest
          until missing.empty?
            missing -= [heard]
            missing &= Segments.nodes
          end
          (rest & Segments.nodes).each do |node|
            Segments[node].put(BEGUN, true)
          rescue Segments::Error
            # It was killed meanwhile.
          end
        end

        def tell(first)
          Segments[first].put(BEGUN, Segments.node)
          nil until heard || !Segments.nodes.include?(first)
        end

        def heard
          Segments.local.take(BEGUN, timeout: 1)
        rescue Segments::TimeoutError
          nil
        end

        BEGINS = "kumi run begins"
        BEGUN = "kumi run has begun"
        # Seconds in which all nodes are to be there, and to have begun.
        START = 60 * __seg_patience
        # Seconds between a node's word that it begins and what its program looks at first.
        LOOK = 0.1
        private_constant :BEGINS, :BEGUN, :START, :LOOK
        private :begin_together, :stay_until_all_have_begun, :hear_of, :tell, :heard, :rules

        # Serves this node's segments until it is told to end.
        def serve
          over = Thread::Queue.new
          %w[TERM INT].each { |signal| end_by(signal) { over << true } }
          # Who reads this line may signal at once.
          puts "node #{Segments.node} serves at #{Segments.address}"
          $stdout.flush
          over.pop
        end

        # The first signal drains the node and calls the block; the second ends the process at once.
        def end_by(signal)
          Signal.trap(signal) do |number|
            exit!(128 + number) if @ending
            @ending = true
            @draining = Thread.new { drain }
            Thread.new do
              @draining.join
              yield "SIG#{signal}"
            end
          end
        end

        def drain
          notify("STOPPING=1")
          Segments.drain(timeout: @drain)
        rescue StandardError => error
          warn error.full_message(highlight: $stderr.tty?)
        end

        def reload
          Segments.reload_certificates
          Log.info("certificates read")
        rescue Segments::Error => error
          Log.error("certificates stay as they were", why: error.message)
        end

        # Tells the service manager, if there is one.
        def notify(text)
          __seg_notify(@notify, text) if @notify
        end
        private :end_by, :drain, :reload, :notify
      end
    end
  end
end

Kumihimo::Segments::Node.start
