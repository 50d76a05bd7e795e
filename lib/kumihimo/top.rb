# frozen_string_literal: true

require "io/console"
require "json"
require "net/http"
require "uri"

module Kumihimo
  # `kumi top`: a node's keys, code segments and rates in a terminal, from the node's page.
  class Top
    HELP = <<~TEXT
      Usage: kumi top ADDRESS [options]

      Shows how a node stands: keys, code segments, rates, collections, dead letters. ADDRESS is what the node printed for
      its page (kumi node NAME --web ADDR, or Kumihimo::Segments.web): http://127.0.0.1:9300/?token=..., or 127.0.0.1:9300.

            --token TOKEN    what the page asks for, where the address does not have it
            --part TEXT      only keys whose names contain this
            --every SECONDS  between two looks (1)
            --once           look once, print and end; so does output that is no terminal
            --json           print what the node says, as JSON, once
        -h, --help           this page

      Keys: / and a text and Enter show keys that contain it, q ends.
      The token may stand in the environment: KUMI_TOP_TOKEN.
    TEXT

    class Refused < StandardError; end
    NO_PAGE = "what answers at %s is no node's page"
    private_constant :NO_PAGE

    def self.main(arguments) = new(arguments).run

    def initialize(arguments)
      @every, @part, @token = 1.0, "", ENV["KUMI_TOP_TOKEN"]
      arguments = arguments.dup
      while (word = arguments.shift)
        word, value = word.split("=", 2) if word.start_with?("--")
        case word
        when "-h", "--help" then @help = true
        when "--once" then @once = true
        when "--json" then @json = true
        when "--token", "--part", "--every"
          value ||= arguments.shift || raise(ArgumentError, "#{word} needs a value")
          word == "--every" ? @every = Float(value, exception: false) || 0.0 : instance_variable_set("@#{word.delete("-")}", value)
        when /\A-./ then raise ArgumentError, "unknown option #{word}"
        else @address ? raise(ArgumentError, "one address, not also #{word}") : @address = word
        end
      end
      return if @help
      raise ArgumentError, "an address is needed: kumi top 127.0.0.1:9300" unless @address
      raise ArgumentError, "--every is a number of seconds above 0" unless @every.finite? && @every >= 0.1
      @uri = URI(@address.include?("://") ? @address : "http://#{@address}/")
      raise ArgumentError, "#{@address} is no address: http://HOST:PORT/ or HOST:PORT" unless @uri.is_a?(URI::HTTP) && @uri.host
      # It would send the token in the clear.
      raise ArgumentError, "https is not spoken here: name the page itself, or a tunnel to it, by http://HOST:PORT/" if @uri.scheme == "https"
      @token = URI.decode_www_form(@uri.query).to_h["token"] || @token if @uri.query
    rescue ArgumentError, URI::Error => error
      @wrong = error.message
    end

    # Gives the exit status.
    def run
      return (puts HELP; 0) if @help
      return fail(2, "#{@wrong}\nkumi top --help tells more.") if @wrong
      return (puts JSON.pretty_generate(look); 0) if @json
      return (puts screen(look, 100_000, $stdout.tty? ? size[1] : 120, $stdout.tty?); 0) if @once || !$stdout.tty? || !$stdin.tty?
      live
    rescue Refused => error
      fail(1, error.message)
    rescue Interrupt, Errno::EPIPE
      0
    end

    private

    def fail(status, message)
      $stderr.puts "kumi top: #{message}"
      status
    end

    def look
      answer = Net::HTTP.start(@uri.hostname, @uri.port, open_timeout: 5, read_timeout: 10) do |http|
        headers = @token ? { "Authorization" => "Bearer #{@token}" } : {}
        http.get("#{@uri.path.chomp("/")}/state?part=#{URI.encode_www_form_component(@part)}", headers)
      end
      case answer.code
      when "200"
        state = JSON.parse(answer.body, symbolize_names: true)
        tables = state.is_a?(Hash) && %i[sum rates code gc].all? { |name| state[name].is_a?(Hash) } && %i[nodes keys].all? { |name| state[name].is_a?(Array) }
        raise Refused, NO_PAGE % "#{@uri.host}:#{@uri.port}" unless tables
        state
      when "401"
        why = @token ? "this is not its token; the node printed it with the page's address" : "it asks for its token: give the address as the node printed it, or --token"
        raise Refused, "#{@uri.host}:#{@uri.port}: #{why}"
      else raise Refused, "#{@uri.host}:#{@uri.port} answers #{answer.code}: #{answer.body.to_s[0, 200]}"
      end
    rescue SystemCallError, SocketError, IOError, Timeout::Error, Net::ProtocolError => error
      raise Refused, "nothing answers at #{@uri.host}:#{@uri.port} (#{error.message}): is the node started with --web?"
    rescue JSON::ParserError, Net::HTTPBadResponse, Net::HTTPHeaderSyntaxError
      raise Refused, NO_PAGE % "#{@uri.host}:#{@uri.port}"
    end

    def live
      print "\e[?1049h\e[?25l"
      typed = nil
      $stdin.raw(intr: true) do
        loop do
          state = begin
            look
          rescue Refused => error
            @lost = error.message
            nil
          end
          rows, columns = size
          lines = state ? screen(state, rows - 1, columns, true) : ["\e[31m#{@lost}\e[m"]
          foot = typed ? "part: #{typed}_" : "q ends, / shows keys that contain a text#{" (now: #{@part})" unless @part.empty?}"
          print "\e[H", lines.map { |line| "#{line}\e[K\r\n" }.join, "\e[J\e[#{rows};1H\e[2m#{foot[0, columns - 1]}\e[m\e[K"
          deadline = now + @every
          while (left = deadline - now) > 0 && $stdin.wait_readable(left)
            key = $stdin.getc
            return 0 if key.nil? || key == "\u0003" || key == "\u0004" || (!typed && key == "q")
            typed, deadline = type(typed, key)
            break unless deadline
            print "\e[#{rows};1H\e[2mpart: #{typed}_\e[m\e[K" if typed
          end
        end
      end
    ensure
      print "\e[?25h\e[?1049l"
    end

    # What is typed so far, and how long to wait on.
    def type(typed, key)
      return [key == "/" ? "" : nil, now + @every] unless typed
      case key
      when "\r", "\n"
        @part = typed
        [nil, nil]
      when "\e" then [nil, nil]
      when "\u007f", "\b" then [typed[0...-1], now + 60]
      else [typed + (key.match?(/[[:print:]]/) ? key : ""), now + 60]
      end
    end

    # Lines and columns of the terminal, which may say nothing of them.
    def size
      rows, columns = $stdout.winsize
      [rows > 4 ? rows : 24, columns > 20 ? columns : 80]
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    def number(n) = n.to_i.to_s.gsub(/(?<=\d)(?=(\d{3})+\z)/, ",")
    def mb(bytes) = "#{bytes >= 10 << 20 ? bytes >> 20 : (bytes / 1048576.0).round(1)} MB"

    # Lines, at most `rows` of them.
    def screen(s, rows, columns, color)
      bold = ->(text) { color ? "\e[1m#{text}\e[m" : text.to_s }
      sum, rates, code, gc = s[:sum], s[:rates], s[:code], s[:gc]
      lines = [
        "#{bold[printable(s[:node])]}  #{s[:ready] ? "ready" : bold["not ready"]}  process #{s[:pid]}  #{Time.at(s[:at]).strftime("%T")}",
        "segments  #{bold[number(sum[:segments])]} under #{number(sum[:keys])} keys; #{number(sum[:leased])} leased, #{number(sum[:delayed])} later; " \
        "#{number(sum[:waiting])} requests wait, #{number(sum[:waiting_puts])} puts",
        "a second  #{bold[number(rates[:entered])]} entered, #{bold[number(rates[:taken])]} taken, #{number(rates[:replaced])} replaced, " \
        "#{number(rates[:back])} came back, #{number(rates[:ended])} ended",
        "code      #{bold[number(code[:running])]} run, #{number(code[:ready])} ready, #{number(code[:waiting])} wait",
        "memory    #{mb(s[:memory])}, #{mb(gc[:live])} live; #{number(gc[:full])} full and #{number(gc[:young])} young collections, " \
        "#{(gc[:full_ms] + gc[:young_ms]).round} ms, the longest #{gc[:longest_ms]} ms"
      ]
      unless s[:nodes].empty?
        others = s[:nodes].map { |n| printable(n[:name]) + (n[:own] ? "" : n[:us] ? " #{number(n[:us])} us" : " no answer") }
        lines << "nodes     #{others.join(", ")}"
      end
      if (schedule = s[:schedule])
        modes = %i[full young].map { |kind| "#{kind} #{schedule[kind][:mode]}" }.join(", ")
        lines << "schedule  #{bold[printable(schedule[:policy])]}: #{modes}; #{number(schedule[:collected])} decided here, #{number(schedule[:ordered])} by order, " \
        "#{number(schedule[:grown])} times grown; #{number(schedule[:idle_periods])} idle periods, #{schedule[:idle_ms].round} ms"
        schedule[:events].reject { |e| e[:what] == "collected" }.first([rows / 8, 1].max).each do |event|
          lines << "#{" " * 10}#{(event[:ago_ms] / 1000).round(1)} s ago: #{printable(event[:text])}"
        end
      end
      if (remote = s[:remote])
        lines << "objects   #{bold[number(remote[:exports])]} of this node are held by others, #{number(remote[:imports])} of others by this one; " \
        "#{number(remote[:nodes].sum { |n| n[:calls] })} calls of others, #{number(remote[:nodes].sum { |n| n[:called] })} of this one"
        remote[:links].first([rows / 4, 1].max).each do |link|
          lines << "#{" " * 10}#{printable(link[:from])} has #{number(link[:objects])} of #{printable(link[:to])}"
        end
      end
      s[:dead].first([rows / 4, 1].max).each_with_index do |letter, i|
        lines << "#{i == 0 ? "dead      " : " " * 10}#{printable(letter[:key])}: #{printable(letter[:error])} (#{printable(letter[:inputs])})"
      end
      lines << ""
      width = [[*s[:keys].map { |k| printable(k[:key]).size }, 12].max, [columns - 66, 12].max].min
      row = ->(name, *cells) { "#{name[0, width].ljust(width)}#{cells.map { |c| c.rjust(11) }.join}" }
      lines << bold[row["key", "segments", "leased", "later", "wait", "puts wait", "last index"]]
      s[:keys].each do |k|
        cells = k.values_at(:segments, :leased, :delayed, :waiting, :waiting_puts, :last_index)
        lines << row[printable(k[:key]), *cells.map { |c| c == 0 ? "" : number(c) }]
      end
      lines.first(rows).map { |line| color ? cut(line, columns) : line.rstrip }
    end

    # Names are others' bytes: none of them moves the terminal's cursor.
    def printable(text) = text.to_s.gsub(/[^[:print:]]/, "?")

    # At most so many columns; what colours is none.
    def cut(line, columns)
      left = columns
      line.scan(/\e\[\d*m|./).take_while { |c| c.start_with?("\e") || (left -= 1) >= 0 }.join + "\e[m"
    end
  end
end
