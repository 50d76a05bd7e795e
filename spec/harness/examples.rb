# Files, groups and examples: which are being read, and how they run. A file is read whole before its examples run;
# whatever an example raises ends that example alone.

# The registry: what file and group are being read, which example runs.
module MSpec
  class Env
  end

  @shared = {}
  @features = {}
  @modes = []
  @expectations = 0
  @current = nil
  @state = nil
  @env = Env.new
  @failed = false
  @subprocesses = []

  class << self
    attr_accessor :current, :state, :env, :expectations, :file
    attr_reader :shared, :subprocesses

    def format(obj)
      obj.inspect
    rescue StandardError
      "an object whose inspect raises"
    end

    def expectation
      @expectations += 1
    end

    def enable_feature(name)
      @features[name] = true
    end

    def disable_feature(name)
      @features[name] = false
    end

    def feature_enabled?(name)
      @features[name] ? true : false
    end

    def mode?(name)
      @modes.include?(name)
    end

    def deprecate(*)
    end

    def load_file(path)
      @env = Env.new
      @file = path
      @current = nil
      SpecReport.line("B", path)
      begin
        load(path)
      rescue SystemExit => e
        SpecReport.line("L", "exit #{e.status} while the file was loaded")
      rescue SkippedSpecError
        nil
      rescue Exception => e
        raise if e.is_a?(SignalException)
        SpecReport.line("L", SpecReport.error_text(e))
      end
    end
  end
end

# One `describe`.
class SpecContext
  attr_reader :name, :parent, :children, :examples, :before_each, :after_each, :before_all, :after_all

  def initialize(name, parent, shared)
    @name = name.to_s
    @parent = shared ? nil : parent
    @shared = shared
    @children = []
    @examples = []
    @before_each = []
    @after_each = []
    @before_all = []
    @after_all = []
    @broken = nil
  end

  def adopt_into(parent)
    copy = SpecContext.new(@name, parent, false)
    copy.take(self)
    parent.children << copy
  end

  def take(other)
    @before_all.concat(other.before_all)
    @before_each.concat(other.before_each)
    @after_all.concat(other.after_all)
    @after_each.concat(other.after_each)
    other.examples.each { |e| @examples << e }
    other.children.each { |c| c.adopt_into(self) }
  end

  def read(&block)
    outer = MSpec.current
    MSpec.current = self
    begin
      MSpec.env.instance_exec(&block)
    rescue SystemExit, SignalException
      raise
    rescue Exception => e
      @broken = e
      SpecReport.line("L", "#{title}: #{SpecReport.error_text(e)}")
    ensure
      MSpec.current = outer
    end
  end

  def title
    @title ||= (@parent ? "#{@parent.title} #{@name}" : @name)
  end

  def chain(kind)
    own = send(kind)
    inherited = @parent ? @parent.chain(kind) : []
    kind == :after_each || kind == :after_all ? own + inherited : inherited + own
  end

  def run
    outer = MSpec.current
    MSpec.current = self
    run_examples unless @examples.empty?
    MSpec.current = outer
    @children.each { |c| c.run }
  end

  private

  def run_examples
    if SpecReport::DRY
      SpecReport.count += @examples.size
      return
    end
    names = @examples.map { |e| "#{title} #{e[0]}" }
    filter = SpecReport::FILTER
    return if filter && names.none? { |n| n.include?(filter) }
    problem = nil
    chain(:before_all).each { |b| problem ||= guarded(&b) }
    @examples.each_with_index do |(_, block), i|
      next if filter && !names[i].include?(filter)
      SpecReport.count += 1
      SpecReport.line("S", names[i])
      if problem
        SpecReport.line("E", "before :all: #{problem}")
      else
        run_one(block)
      end
    end
    chain(:after_all).each { |b| guarded(&b) }
    SpecMock.cleanup
  end

  # Runs an example with its before and after blocks and tells the outcome.
  def run_one(block)
    MSpec.state = self
    MSpec.expectations = 0
    verdict = nil
    problem = nil
    chain(:before_each).each { |b| problem ||= guarded(&b) }
    if problem
      verdict = ["E", "before :each: #{problem}"]
    elsif block
      verdict = attempt(block)
    end
    chain(:after_each).each do |b|
      problem = guarded(&b)
      verdict ||= ["E", "after :each: #{problem}"] if problem
    end
    begin
      SpecMock.verify unless verdict
    rescue Exception => e
      verdict ||= ["F", SpecReport.error_text(e)]
    end
    begin
      SpecMock.cleanup
    rescue Exception => e
      verdict ||= ["E", SpecReport.error_text(e)]
    end
    MSpec.state = nil
    verdict ||= MSpec.expectations == 0 && block ? ["F", "no expectation was found in the example"] : ["P", ""]
    SpecReport.line(verdict[0], verdict[1])
  end

  def attempt(block)
    MSpec.env.instance_exec(&block)
    nil
  rescue SkippedSpecError => e
    ["K", e.message]
  rescue SpecExpectationNotMetError => e
    ["F", SpecReport.error_text(e)]
  rescue SystemExit => e
    ["E", "the example called exit (#{e.status})"]
  rescue Exception => e
    ["E", SpecReport.error_text(e)]
  end

  def guarded(&block)
    MSpec.env.instance_exec(&block)
    nil
  rescue SkippedSpecError
    nil
  rescue SystemExit => e
    "exit #{e.status}"
  rescue Exception => e
    SpecReport.error_text(e)
  end
end
