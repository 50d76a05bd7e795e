# frozen_string_literal: true

module Kumihimo
  module Segments
    # What there is and what happens on this node, for whoever looks on: the page, `kumi top`, metrics, programs.
    module Look
      ROW = %i[key segments delayed leased waiting waiting_puts last_index limit].freeze
      SUM = %i[keys segments delayed leased waiting waiting_puts].freeze
      COUNT = %i[entered replaced taken back ended].freeze
      # Under which keys dead letters are.
      @dead = {}

      class << self
        # See Segments.survey.
        def survey(part, most)
          raise ArgumentError, "most: is an Integer from 0 on, not #{most.inspect}" unless most.is_a?(Integer) && most >= 0
          sum, counts, rows = __seg_survey(part.to_s, most)
          { **SUM.zip(sum).to_h, counts: COUNT.zip(counts).to_h, keys_by_size: rows.map { |row| ROW.zip(row).to_h } }
        end

        def dead_letter_key(name) = @dead[name.to_s] = true

        # Keys of dead letters of this program's classes, with how many stand there.
        def dead_letter_keys = @dead.keys.to_h { |key| [key, Segments.local.size(key)] }

        # Dead letters, the oldest first.
        def dead_letters(most)
          @dead.keys.flat_map do |key|
            letters = []
            index = 0
            while letters.size < most && (segment = peek(key, index))
              index = segment.index
              letters << { key:, index:, **told(segment.value) }
            end
            letters
          end
        end

        # Puts what a dead letter was about back under its keys, and ends the letter, in one step. false: it is not there any more.
        def put_back(key, index) = Letter.handle(key, index, true)
        def forget(key, index) = Letter.handle(key, index, false)

        # Can what it is about be put back?
        def returns?(letter) = letter.is_a?(Hash) && letter[:keys].is_a?(Hash) && letter[:inputs].is_a?(Hash) && !letter[:lost]

        private

        def peek(key, index)
          Segments.local.peek_segment(key, after: index, timeout: 0)
        rescue TimeoutError
          nil
        end

        def told(letter)
          return { error: letter.inspect[0, 500], tries: nil, inputs: "", returns: false } unless letter.is_a?(Hash)
          inputs = letter[:inputs].is_a?(Hash) ? letter[:inputs].map { |name, value| "#{name}: #{value.inspect[0, 200]}" }.join(", ") : ""
          { error: letter[:error].to_s[0, 500], tries: letter[:tries], inputs: inputs[0, 500], returns: returns?(letter) }
        end
      end

      # Handles a dead letter.
      class Letter < CodeSegment
        input :letter, take: nil

        def self.handle(key, index, again)
          segment = new(index, again)
          segment.set_key(:letter, key, index - 1).start
          segment.join(timeout: 1)
          segment.handled?
        rescue Gone, TimeoutError, StaleIndex
          segment.cancel
          false
        end

        # Another one was found in its place: it comes back there.
        class Gone < Error; end

        def initialize(index, again)
          @index = index
          @again = again
          # Nothing is said of a run that ends by Gone.
          @__quiet = true
        end

        def handled? = !!@handled

        def run
          raise Gone unless input(:letter).index == @index
          if @again
            raise Gone unless Look.returns?(letter)
            letter[:keys].each { |name, (key, node)| put key, letter[:inputs][name], on: node }
          end
          @handled = true
        end
      end
      private_constant :Letter
    end
    private_constant :Look

    class << self
      # How this node's keys stand: sums, `counts` of what has happened since the start, and `keys_by_size`, the `most` fullest of the keys
      # whose names contain `part`. It looks at every key, in pieces: nobody waits long for it.
      def survey(part = "", most: 100) = Look.survey(part, most)

      # Keys of dead letters of this program's classes of code segments, with how many stand there.
      def dead_letters = Look.dead_letter_keys

      # Why this node takes no part now, in words; nil: it does, or the program is no node and was none.
      def not_ready
        return "the node has left the cluster" if @left
        return "the node is about to leave the cluster" if Leaving.begun?
        "the node has not joined yet" if @joins && cluster? && nodes.size < 2
      end

      # Serves a page about this node: nodes, keys, code segments, rates, collections, dead letters. `/healthz` and `/readyz` say that it lives
      # and takes part, `/metrics` is for Prometheus. Gives the address, with the token that it asks for.
      def web(address = "127.0.0.1:0", token: nil)
        require "kumihimo/segments/page"
        Page.new(address, token).start
      end
    end
  end
end
