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
          name, await = one["NAME"], one["AWAIT"]
          Segments.listen(name, listen: list["LISTEN"], join: list["JOIN"], public: one["PUBLIC"],
                                certificate: one["CERT"], key: one["KEY"], authority: one["CA"], insecure: !one["INSECURE"].nil?)
          Segments.wait_for_nodes(await.to_i, timeout: 60) if await
        rescue Segments::Error, ArgumentError => error
          warn "kumi node: #{error.message.sub("(advertise)", "(--public)")}"
          exit! 1
        end

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
