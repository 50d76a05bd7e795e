# Rounds for races.rb beside those of arrays, hashes and strings: containers in containers, streams, classes, matches, random
# numbers, locks whose holders are killed. The same holds: what was put in is found or was taken, once.

class Round
  # Values that wander between inner containers: whoever takes one out puts it into another.
  def nested
    kind = KINDS.sample(random: rng)
    size = rng.rand(2..6)
    what = rng.rand(3)
    shared = Array.new(size) { |k| what == 1 ? {k => []} : [] }
    inner = ->(k) { what == 1 ? shared[k].values[0] : what == 2 ? shared.dig(k) : shared[k] }
    size.times { |k| 30.times { |n| inner[k] << Token.make(kind, k, n) } }
    looks = [
      -> { shared.flatten(1).size }, -> { shared.inspect.size }, -> { shared.hash }, -> { Marshal.load(Marshal.dump(shared)) }, -> { shared == shared.map(&:dup) }, -> { shared.sum { |x| x.size } },
      -> { shared.each { |x| (x.is_a?(Hash) ? x.values[0] : x).each { |v| known!(v, "an inner array") } } }, -> { shared.map(&:to_a).transpose rescue IndexError }, -> { shared <=> shared.dup }, -> { shared.dup.flatten! },
      -> { Ractor.shareable?(shared) }, -> { shared.reverse_each { |x| x.first } }, -> { shared.to_s }, -> { shared.zip(shared).flatten(2).size }, -> { JSON.generate(shared) unless kind == :ary || kind == :big }
    ]
    @what = "#{kind} in #{%w[arrays hashes digs][what]}"
    beside(-> { looks.sample.call }) do
      threads do |_, r|
        STEPS.times do
          v = case r.rand(3)
              when 0 then inner[r.rand(size)].pop
              when 1 then inner[r.rand(size)].shift
              else inner[r.rand(size)].delete_at(r.rand(4))
              end
          next if v.nil?
          known!(v)
          to = inner[r.rand(size)]
          case r.rand(4)
          when 0 then to << v
          when 1 then to.unshift(v)
          when 2 then to.concat([v])
          else to.insert(0, v)
          end
        end
      end
    end
    all = size.times.flat_map { |k| inner[k] }.map { |v| Token.number(v) }
    fail!("#{all.size} values, #{all.uniq.size} different ones, of #{size * 30}") unless all.size == size * 30 && all.uniq.size == all.size
  end

  # Many takers: each pair, element, record or line is taken by one of them.
  def taken
    what = %i[hash_shift hash_delete set_delete string_slice array_delete queue pipe sized].sample(random: rng)
    total = STEPS
    @what = "taken, #{what}"
    got =
      case what
      when :hash_shift
        shared = total.times.to_h { |n| [Token.make(:str, 0, n), n] }
        threads { out = []; while (pair = shared.shift) do out << pair[1] end; out }
      when :hash_delete
        shared = total.times.to_h { |n| [n, n] }
        threads { |_, r| total.times.to_a.shuffle(random: r).filter_map { |n| shared.delete(n) } }
      when :set_delete
        shared = Set.new(total.times)
        threads { |_, r| total.times.to_a.shuffle(random: r).select { |n| shared.delete?(n) } }
      when :array_delete
        shared = total.times.to_a
        threads { |_, r| total.times.to_a.shuffle(random: r).filter_map { |n| shared.delete(n) } }
      when :string_slice
        shared = +total.times.map { |n| format("%06d", n) * 2 }.join
        threads { out = []; while (x = shared.slice!(0, 12)) && !x.empty? do x[0, 6] == x[6, 6] ? out << x[0, 6].to_i : fail!("a torn record #{x}") end; out }
      when :queue
        shared = Queue.new(total.times)
        shared.close
        threads { |_, r| out = []; while (x = r.rand(2) == 0 ? shared.pop : shared.pop(timeout: 1)) do out << x end; out }
      when :sized
        shared = SizedQueue.new(rng.rand(1..4))
        maker = Thread.new { total.times { |n| shared.push(n, timeout: 0.001) || redo; shared.max = 1 + n % 5 }; shared.close }
        threads { out = []; while (x = shared.pop) do out << x end; out }.tap { maker.join }
      when :pipe
        r, w = IO.pipe
        maker = Thread.new { total.times { |n| w.write("#{n}\n") }; w.close }
        threads { out = []; while (x = r.gets) do out << Integer(x) end; out }.tap { maker.join; r.close }
      end
    all = got.flatten
    fail!("#{all.size} were taken, #{all.uniq.size} different ones, of #{total}") unless all.size == total && all.uniq.size == total
  end

  # Records that many write to one stream.
  def streams
    r, w = IO.pipe
    sync = w.sync = rng.rand(2) == 0
    @what = "a stream#{" in sync" if sync}"
    reader = Thread.new { r.read }
    threads do |i, x|
      (STEPS / 4).times do |n|
        v = format("%d%05d", i, n) * 2
        case x.rand(4)
        when 0 then w.write(v, "\n")
        when 1 then w << "#{v}\n"
        when 2 then w.puts(v)
        else w.print(v, "\n")
        end
      end
    end
    w.close
    lines = reader.value.lines(chomp: true)
    lines.each { |l| fail!("a torn record #{l.inspect}") unless l.size == 12 && l[0, 6] == l[6, 6] }
    fail!("#{lines.size} records, #{lines.uniq.size} different ones, of #{THREADS * (STEPS / 4)}") unless lines.uniq.size == THREADS * (STEPS / 4) && lines.size == lines.uniq.size
  ensure
    r&.close
  end

  # What a match tells is of one text, though the String is replaced meanwhile.
  def matches
    shared = +"1:1"
    @what = "matches of a String that is replaced"
    threads do |i, r|
      STEPS.times do |n|
        if i < 2
          half = "#{i}#{n}" * r.rand(1..40)
          shared.replace("#{half}:#{half}")
        else
          text = case r.rand(7)
                 when 0 then (m = /\A(\d*):(\d*)/.match(shared)) ? "#{m[1]}|#{m[2]}" : fail!("no match")
                 when 1 then (m = shared.match(/:/)) ? "#{m.pre_match}|#{m.post_match}" : fail!("no match")
                 when 2 then shared.partition(":").values_at(0, 2).join("|")
                 when 3 then shared.sub(":", "|")
                 when 4 then shared.gsub(/:/, "|")
                 when 5 then shared.scan(/[^:]+/).join("|")
                 else shared.tr(":", "|")
                 end
          a, b = text.split("|")
          fail!("a torn match #{text[0, 60].inspect}") unless a == b
        end
      end
    end
  end

  # A generator that all draw from gives each number to one of them.
  def draws
    what = %i[rand bytes float shuffle].sample(random: rng)
    seed = rng.rand(1 << 40)
    draw = {rand: ->(x) { x.rand(1 << 60) }, bytes: ->(x) { x.bytes(8) }, float: ->(x) { x.rand }, shuffle: ->(x) { [1, 2, 3, 4].shuffle(random: x).size + x.rand(1 << 60) }}[what]
    shared = Random.new(seed)
    @what = "draws by #{what}"
    got = threads { STEPS.times.map { draw[shared] } }.flatten
    return if what == :shuffle
    alone = Random.new(seed)
    want = Array.new(got.size) { draw[alone] }
    fail!("numbers were drawn twice or lost: #{(got - want).size} others") unless got.sort == want.sort
  end

  # Sorting by keys that change: whatever the order, each element is there once.
  class Key
    include Comparable
    attr_accessor :at
    def initialize(at) = @at = at
    def <=>(other) = @at <=> other.at
    def hash = @at.hash
    def eql?(other) = @at == other.at
  end

  def keys
    list = Array.new(40) { |n| Key.new(n) }
    looks = [
      -> { list.sort }, -> { list.sort_by(&:at) }, -> { list.sort { |a, b| b <=> a } }, -> { list.dup.sort! }, -> { list.dup.sort_by! { |x| -x.at } }, -> { list.shuffle }, -> { list.group_by { |x| x.at % 3 }.values.flatten(1) },
      -> { list.partition { |x| x.at.even? }.flatten(1) }, -> { list.sort.reverse }, -> { list.max(40) }, -> { list.min_by(40, &:at) }, -> { list.chunk_while { |a, b| a <= b }.to_a.flatten(1) }, -> { list.each_slice(7).to_a.flatten(1) }
    ]
    @what = "keys that change"
    threads do |i, r|
      (STEPS / 4).times do
        if i == 0
          list[r.rand(list.size)].at = r.rand(99)
        else
          got = looks.sample(random: r).call
          ids = got.map(&:object_id)
          fail!("#{ids.size} elements, #{ids.uniq.size} different ones, of #{list.size}") unless ids.uniq.size == list.size && ids.size == list.size
          [list.uniq, list.tally, list.min, list.minmax, list.index(list[3]), list.bsearch { |x| x.at >= 50 }, list.to_h { |x| [x, 1] }, Set.new(list), list.sum(&:at), list[0].clamp(list[1], nil)]
        end
      end
    end
  end

  # Classes and modules that threads define, extend, call and compare at once.
  def classes
    base = Class.new(Class.new { def who = :base })
    mods = Array.new(6) { |k| Module.new { define_method(:"from#{k}") { k }; define_method(:who) { [k, super()] } } }
    front = Array.new(3) { |k| Module.new { define_method(:who) { [k, super()] } } }
    @what = "classes"
    made = threads do |i, r|
      (STEPS / 20).times.map do |n|
        sub = Class.new(base) { define_method(:mine) { [i, n] }; attr_accessor :a, :b; const_set(:N, n) }
        k = r.rand(mods.size)
        [-> { sub.include(mods[k]) }, -> { sub.prepend(front[k % 3]) }, -> { base.include(mods[k]) }, -> { sub.extend(mods[k]) }].sample(random: r).call
        o = sub.new
        o.a = n
        o.extend(mods[(k + 1) % mods.size]) if r.rand(3) == 0
        o.instance_variable_set(:"@v#{r.rand(30)}", n)
        fail!("a method answers for another") unless o.mine == [i, n] && o.a == n && sub::N == n && o.b.nil?
        fail!("#{o.who.inspect} is nobody") unless [o.who].flatten.last == :base
        case r.rand(6)
        when 0 then sub.class_eval { def late = 1 }; fail!("no method") unless o.late == 1
        when 1 then sub.send(:remove_method, :mine); fail!("a method that was removed") if o.respond_to?(:mine)
        when 2 then sub.alias_method(:other, :mine); fail!("an alias of another") unless o.other == [i, n]
        when 3 then o.define_singleton_method(:who) { :me }; fail!("a singleton method is gone") unless o.who == :me
        when 4 then fail!("a copy is another") unless sub.dup.new.mine == [i, n]
        else GC.start if r.rand(20) == 0
        end
        [sub.ancestors.size, sub.instance_methods(false).size, base.subclasses.size, sub.name, ObjectSpace.each_object(Class).first.frozen?]
        sub
      end
    end.flatten
    fail!("#{(made - base.subclasses).size} subclasses are missing") unless (made - base.subclasses).empty?
  end

  def match_of(text)
    text =~ /(\d+):(\d+)/
    Thread.pass
    [$1, $2]
  end

  # Globals, thread's own things, symbols.
  def names
    $races = Token.make(:int, 0, 0)
    held = Queue.new
    @what = "globals, thread locals, symbols, fibers"
    threads do |i, r|
      me = Thread.current
      (STEPS / 4).times do |n|
        $races = Token.make(KINDS.sample(random: r), i, n)
        known!($races, "a global")
        me[:mine] = n
        me.thread_variable_set(:also, n)
        f = Fiber.new { |x| me[:mine] = :fiber; y = Fiber.yield(x + 1); y + me.thread_variable_get(:also) }
        fail!("a fiber's answer is another's") unless f.resume(n) == n + 1 && f.resume(1) == n + 1
        fail!("a thread's own value is another's") unless me[:mine] == n
        sym = "races#{n}".to_sym
        held << sym
        fail!("two symbols of one name") unless sym.equal?(:"races#{n}") && sym.name == "races#{n}"
        e = [1, 2, 3].each
        fail!("an enumerator's answer is another's") unless [e.next, e.next, e.next] == [1, 2, 3]
        fail!("a match is another call's") unless match_of("k#{i}:#{n}") == [i.to_s, n.to_s]
        fail!("a catch caught another's") unless catch(sym) { throw sym, n } == n
      end
    end
  end

  # Threads that are killed and raised in while they hold locks or wait for them: each lock is free at the end, and what `ensure` counts is whole.
  def killed
    mutex = [Mutex.new, Monitor.new].sample(random: rng)
    queue = SizedQueue.new(2)
    ready = ConditionVariable.new
    plain = Mutex.new
    entered = left = 0
    @what = "killed holders of a #{mutex.class}"
    stop = false
    taker = Thread.new { queue.pop until stop }
    threads(2) do |_, r|
      (STEPS / 20).times do
        t = Thread.new do
          Thread.current.report_on_exception = false
          loop do
            mutex.synchronize do
              entered += 1
              begin
                Thread.pass
                queue.push(1) if r.rand(4) == 0
              ensure
                left += 1
              end
            end
            plain.synchronize { ready.wait(plain, 0.001) } if r.rand(5) == 0
          end
        end
        sleep(r.rand * 0.002)
        case r.rand(3)
        when 0 then t.kill
        when 1 then t.raise("fuzz")
        else Timeout.timeout(0.001) { t.join } rescue t.kill
        end
        begin
          t.join(20) || fail!("a killed thread goes on: #{t.status}")
        rescue RuntimeError => e
          raise if e.message != "fuzz"
        end
      end
    end
    stop = true
    queue.close
    taker.join
    mutex.synchronize { fail!("entered #{entered} times, left #{left}") if entered - left > STEPS / 5 || left > entered }
    plain.synchronize { 1 }
  end

  # Bounded buffers of a lock and two conditions.
  def conditions
    monitor = rng.rand(2) == 0
    lock = monitor ? Monitor.new : Mutex.new
    full, empty = monitor ? [lock.new_cond, lock.new_cond] : [ConditionVariable.new, ConditionVariable.new]
    wait = ->(c) { monitor ? c.wait : c.wait(lock) }
    list = []
    @what = "a buffer of a #{lock.class}"
    half = THREADS / 2
    takers = half.times.map do
      Thread.new do
        out = []
        loop do
          v = lock.synchronize { wait[full] while list.empty?; x = list.shift; empty.signal; x }
          break out if v == :end
          out << v
        end
      end
    end
    threads(half) { |i, _| STEPS.times { |n| lock.synchronize { wait[empty] while list.size > 3; list << Token.make(:int, i, n); full.signal } } }
    half.times { lock.synchronize { list << :end; full.broadcast } }
    got = takers.flat_map(&:value)
    fail!("#{got.size} values, #{got.uniq.size} different ones, of #{half * STEPS}") unless got.uniq.size == half * STEPS && got.size == half * STEPS
  end

  ALSO = %i[nested taken taken streams matches draws keys classes names killed conditions].freeze
end
