# frozen_string_literal: true

require "kumihimo/web"

module Kumihimo
  module Jobs
    # A web page with the queues, the cron table and the dead jobs, which can be put back or forgotten by a button.
    #
    # It asks for no password, so it listens on loopback unless its address says otherwise. A button works only on a page of this
    # process: a form of another site does not know its secret.
    class Page
      def initialize(address)
        @web = Web.new(address) { |request| answer(request) }
        @secret = SecureRandom.hex(16)
      end

      # Gives the page's address.
      def start = @web.start.url

      private

      def answer(request)
        return request.get? ? [200, "text/html", html] : act(request) if request.path == "/"
        raise Web::Refused, 404
      rescue Segments::Error => error
        [503, "text/plain", error.message]
      end

      def act(request)
        raise Web::Refused.new(403, "this form is of another page: load it again") unless request.form["secret"] == @secret
        case request.form["do"]
        when "retry" then Jobs.retry(request.form["id"])
        when "forget" then Jobs.forget(request.form["id"])
        else raise Web::Refused, 400
        end
        [200, "text/html", html]
      end

      def escape(text) = CGI.escapeHTML(text.to_s)
      def row(*cells) = "<tr>#{cells.map { |cell| "<td>#{cell}</td>" }.join}</tr>\n"

      def table(title, heads, rows)
        body = rows.empty? ? "<p>none</p>" : "<table><tr>#{heads.map { |h| "<th>#{h}</th>" }.join}</tr>\n#{rows.join}</table>"
        "<h2>#{title}</h2>\n#{body}\n"
      end

      def button(what, id)
        "<form method=post action=/><input type=hidden name=secret value=#{@secret}>" \
          "<input type=hidden name=id value=\"#{escape(id)}\"><button name=do value=#{what}>#{what}</button></form>"
      end

      def html
        queues = Jobs.queues.map { |name, stat| row(escape(name), stat[:ready], stat[:later], stat[:running]) }
        cron = Jobs.schedules.map { |s| row(escape(s.cron), escape(s.job_name), escape(s.cron.next_after(Time.now).strftime("%F %H:%M"))) }
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
