# frozen_string_literal: true

require "cgi"
require "securerandom"
require "socket"
require "uri"

module Kumihimo
  module Jobs
    # A web page with the queues, the cron table and the dead jobs, which can be put back or forgotten by a button.
    #
    # It asks for no password, so it listens on loopback unless its address says otherwise. A button works only on a page of this
    # process: a form of another site does not know its token.
    class Page
      REQUEST = 64 << 10
      CONNECTIONS = 32
      SECONDS = 10
      private_constant :REQUEST, :CONNECTIONS, :SECONDS

      def initialize(address)
        host, _, port = address.to_s.rpartition(":")
        raise ArgumentError, "an address is HOST:PORT, not #{address.inspect}" unless port.match?(/\A\d+\z/)
        @server = TCPServer.new(host.delete("[]"), port.to_i)
        @token = SecureRandom.hex(16)
        @slots = Thread::SizedQueue.new(CONNECTIONS)
      end

      # Gives the page's address.
      def start
        @thread = Thread.new { loop { accept } }
        @thread.name = "jobs' page"
        address = @server.local_address
        "http://#{address.ipv6? ? "[#{address.ip_address}]" : address.ip_address}:#{address.ip_port}/"
      end

      private

      def accept
        socket = @server.accept
        @slots << true
        Thread.new do
          socket.timeout = SECONDS
          serve(socket)
        rescue IOError, SystemCallError
          # It has gone.
        ensure
          socket.close
          @slots.pop
        end
      rescue SystemCallError
        # One that went before it was served, or too many open files.
        sleep 0.1
      end

      def serve(socket)
        head = +""
        until head.end_with?("\r\n\r\n", "\n\n")
          line = socket.gets("\n", REQUEST)
          return if line.nil? || (head << line).size > REQUEST
        end
        method, path, = head.lines.first.split
        if method == "POST"
          length = head[/^content-length:\s*(\d+)/i, 1].to_i
          return answer(socket, "413 Content Too Large", "too long") if length > REQUEST
          act(socket, path, socket.read(length).to_s)
        elsif path == "/"
          answer(socket, "200 OK", html, method == "HEAD")
        else
          answer(socket, "404 Not Found", "nothing is here")
        end
      rescue Segments::Error => error
        answer(socket, "503 Service Unavailable", CGI.escapeHTML(error.message))
      end

      def act(socket, path, body)
        form = URI.decode_www_form(body).to_h
        return answer(socket, "403 Forbidden", "this form is of another page: load it again") unless form["token"] == @token
        case path
        when "/retry" then Jobs.retry(form["id"])
        when "/forget" then Jobs.forget(form["id"])
        else return answer(socket, "404 Not Found", "nothing is here")
        end
        socket.write("HTTP/1.1 303 See Other\r\nLocation: /\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
      rescue ArgumentError
        answer(socket, "400 Bad Request", "no form")
      end

      def answer(socket, status, body, head = false)
        socket.write("HTTP/1.1 #{status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: #{body.bytesize}\r\n" \
                     "Cache-Control: no-store\r\nX-Frame-Options: DENY\r\nContent-Security-Policy: default-src 'none'; style-src " \
                     "'unsafe-inline'; form-action 'self'\r\nConnection: close\r\n\r\n#{body unless head}")
      end

      def escape(text) = CGI.escapeHTML(text.to_s)
      def row(*cells) = "<tr>#{cells.map { |cell| "<td>#{cell}</td>" }.join}</tr>\n"

      def table(title, heads, rows)
        body = rows.empty? ? "<p>none</p>" : "<table><tr>#{heads.map { |h| "<th>#{h}</th>" }.join}</tr>\n#{rows.join}</table>"
        "<h2>#{title}</h2>\n#{body}\n"
      end

      def button(path, id)
        "<form method=post action=/#{path}><input type=hidden name=token value=#{@token}>" \
          "<input type=hidden name=id value=\"#{escape(id)}\"><button>#{path}</button></form>"
      end

      def html
        queues = Jobs.queues.map { |name, stat| row(escape(name), stat[:ready], stat[:later], stat[:running]) }
        cron = Jobs.schedules.map { |s| row(escape(s.cron), escape(s.job&.name), escape(s.cron.next_after(Time.now).strftime("%F %H:%M"))) }
        dead = Jobs.dead.map do |job|
          what = "#{job.job}(#{[*job.arguments.map(&:inspect), *job.options.map { |k, v| "#{k}: #{v.inspect}" }].join(", ")})"
          row(escape(job.at.strftime("%F %T")), escape(what[0, 500]), escape(job.error), job.tries, button("retry", job.id) + button("forget", job.id))
        end
        <<~HTML
          <!doctype html><html lang=en><meta charset=utf-8><meta http-equiv=refresh content=5><title>Jobs</title>
          <style>
          :root { color-scheme: light dark } body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 60em; padding: 0 1em }
          table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .25em .75em; border-bottom: 1px solid #8886; vertical-align: top }
          form { display: inline } button { margin-right: .5em }
          </style><h1>Jobs</h1>
          #{table("Queues", ["queue", "ready", "later", "running"], queues)}
          #{table("Schedule", ["line", "job", "next"], cron)}
          #{table("Dead", ["failed", "job", "error", "tries", ""], dead)}
          </html>
        HTML
      end
    end
    private_constant :Page
  end
end
