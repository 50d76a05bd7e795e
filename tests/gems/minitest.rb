# Minitest: a suite with passes, failures, errors and skips, spec style, mocks and stubs.
require "minitest"
require "minitest/spec"
require "minitest/mock"
require "stringio"

class StackTest < Minitest::Test
  def setup = @s = []
  def teardown = @s.clear
  def test_push
    @s.push 1
    assert_equal [1], @s
    assert_includes @s, 1
    refute_empty @s
    assert_predicate @s, :any?
    assert_operator 1, :<, 2
    assert_in_delta 0.3, 0.1 + 0.2, 1e-9
    assert_match(/b+/, "abbc")
    assert_kind_of Array, @s
    assert_respond_to @s, :each
    assert_same @s, @s
    assert_nil nil
    assert_instance_of Array, @s
    refute_equal 1, 2
  end
  def test_raises
    e = assert_raises(ZeroDivisionError) { 1 / 0 }
    assert_equal "divided by 0", e.message
    assert_throws(:done) { throw :done }
    assert_output("hi\n", "err\n") { puts "hi"; warn "err" }
    assert_silent { }
    assert_equal %w[a b].to_s, capture_io { print %w[a b] }.first
  end
  def test_failing = assert_equal("one\ntwo", "one\n2", "not the same")
  def test_error = nil.nothing_here
  def test_skipped = skip("not now")
  def test_flunk = flunk
  def test_wrong_raise = assert_raises(KeyError) { raise ArgumentError, "other" }
  def test_diff = assert_equal([1, [2, 3]], [1, [2, 4]])
end

describe Array do
  let(:list) { [3, 1, 2] }
  before { @x = 1 }
  it("sorts") { _(list.sort).must_equal [1, 2, 3] }
  it("raises") { _ { list.fetch(9) }.must_raise IndexError }
  describe "nested" do
    it("keeps before") { expect(@x).must_be :==, 1 }
    it("fails") { _(list).must_be_empty }
  end
end

class MockTest < Minitest::Test
  def test_mock
    m = Minitest::Mock.new
    m.expect :call, 42, [1, String]
    assert_equal 42, m.call(1, "x")
    assert m.verify
    m.expect :other, nil
    assert_raises(MockExpectationError) { m.verify }
  end
  def test_stub = Time.stub(:now, Time.at(0)) { assert_equal 0, Time.now.to_i }
end

class Recorder < Minitest::StatisticsReporter
  def record(r)
    super
    LOG << [r.klass, r.name.sub(/\Atest_\d+_/, ""), r.result_code, r.assertions, r.failures.map { |f| f.message.lines.first(6).join.gsub(/^ +\S+\.rb:\d+.*\n?/, "").gsub(/#<\w+:0x\h+/, "#<").tr("`", "'") }]
  end
end
LOG = []
io = StringIO.new
rep = Recorder.new(io, {})
Minitest.seed = 42
srand 42
rep.start
Minitest::Runnable.runnables.each { |k| k.run(rep, {}) }
rep.report
LOG.sort_by { |l| l.first(2).map(&:to_s) }.each do |klass, name, code, n, messages|
  puts "#{code} #{klass}##{name} (#{n})"
  messages.each { |m| puts m.gsub(/undefined method 'nothing_here' for .*/, "undefined method 'nothing_here'").gsub(/^/, "    ") unless m.include?("---") }
end
p rep.count, rep.assertions, rep.failures, rep.errors, rep.skips, rep.passed?

progress = StringIO.new
pr = Minitest::ProgressReporter.new(progress, {})
su = Minitest::SummaryReporter.new(progress, {})
co = Minitest::CompositeReporter.new(su, pr)
co.start
MockTest.run(co, {})
co.report
puts progress.string.gsub(/[\d.]+s/, "Ns").gsub(/[\d.]+ (runs|assertions)\/s/, 'N \1/s').gsub(/Running.*|Run options.*/, "").squeeze("\n")
