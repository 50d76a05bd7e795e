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
          name, await, together = one["NAME"], one["AWAIT"], one["TOGETHER"]
          Segments.listen(name, listen: list["LISTEN"], join: list["JOIN"], public: one["PUBLIC"],
                                certificate: one["CERT"], key: one["KEY"], authority: one["CA"], insecure: !one["INSECURE"].nil?)
          Segments.wait_for_nodes(await.to_i, timeout: 60) if await
          begin_together if together
        rescue Segments::Error, ArgumentError => error
          # What the library calls so, the command line calls otherwise.
          warn "kumi node: #{error.message.sub("(advertise)", "(--public)").sub("certificate:, key: and authority:", "--cert, --key and --ca")}"
          exit! 1
        end

        # All see each other before the first begins: it might end soon, and be missed by those that still wait. The first by name
        # hears of the rest, and then tells them.
        def begin_together
          first, *rest = Segments.nodes.sort
          if first == Segments.node
            rest.each { Segments.local.take(BEGINS, timeout: 60) }
            rest.each { |node| Segments[node].put(BEGINS, true) }
          else
            Segments[first].put(BEGINS, true)
            Segments.local.take(BEGINS, timeout: 60)
          end
        end

        BEGINS = "kumi run begins"
        private_constant :BEGINS
        private :begin_together

        # Serves this node's segments until it is told to end.
        def serve
          puts "node #{Segments.node} serves at #{Segments.address}"
          $stdout.flush
          Signal.trap("TERM") { exit }
          sleep
        rescue Interrupt
          nil
        ensure
          Segments.leave
        end
      end
    end
  end
end

Kumihimo::Segments::Node.start
