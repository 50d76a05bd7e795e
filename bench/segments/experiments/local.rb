# What a hand-over costs on one node, beside queues, ports, mailboxes and channels.
module Bench
  def self.workers(n) = { "KUMI_WORKERS" => n.to_s, "GOMAXPROCS" => n.to_s, "ERL_FLAGS" => "+S #{n}:#{n}" }.freeze
  ONE = workers(1)
  TWO = workers(2)

  experiment "local", "put and take on one node, beside Queue, Ractor, Erlang, Go and Rinda" do |suite, report|
    report.section("One node", <<~TEXT)
      `programs/local.rb`: nanoseconds of a put and a take by the same thread (update and peek: of one), with one worker; below, of a round trip
      between two threads over two keys. The peers do the same with what they have: `Queue`, a Ractor's port (CRuby before 4.0: to
      itself), a process's mailbox, a channel with room for 16, a tuple space in the process.
    TEXT
    n = suite.quick ? 50_000 : 500_000
    only = ->(kinds, mode, count = n) { ->(r) { [mode, r.system_threads? ? count / 10 : count] if kinds.include?(r.name[/\A\w+/]) } }
    one = [["put + take by key", "key", %w[kumi]], ["put + take by name", "string", %w[kumi]], ["update", "update", %w[kumi]], ["peek", "peek", %w[kumi]],
           ["Queue push + pop", "queue", %w[kumi ruby JRuby]], ["Ractor send + receive", "ractor", %w[kumi ruby]],
           ["mailbox, channel", "alone", %w[BEAM Go]], ["Rinda write + take", "rinda", %w[ruby], n / 10]]
    two = [["two threads, segments", "pair-key", %w[kumi]], ["two threads, Queue", "pair-queue", %w[kumi ruby JRuby], n / 5],
           ["two threads, Ractor", "pair-ractor", %w[kumi ruby], n / 10], ["two threads, mailbox, channel", "pair", %w[BEAM Go]]]
    cases = one.map { |name, mode, kinds, count| [name, "local", only.(kinds, mode, count || n), ONE] }
    cases += [[ONE, "1 worker"], [TWO, "2 workers"]].flat_map do |env, words|
      two.map { |name, mode, kinds, count| ["#{name}, #{words}", "local", only.(kinds, mode, (count || n) / 4), env] }
    end
    found = suite.compare(cases)
    suite.comparison("ns", cases, found)
    own = ->(name) { (v = found[[name, "kumi"]]).is_a?(Numeric) ? v : nil }
    report.bound("put + take on one node, by key (aim 200)", own.("put + take by key"), 500, "ns")
    report.bound("put + take on one node, by name (aim 200)", own.("put + take by name"), 500, "ns")
    report.data["local"] = found.map { |k, v| { case: k, ns: v } }
  end
end
