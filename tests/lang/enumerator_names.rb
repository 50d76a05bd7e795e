# Each method that answers an Enumerator names itself in it, by the name it was called by.
require "set"
S = Struct.new(:a, :b) unless defined?(S)
RECEIVERS = [[1, 2], {a: 1}, 1..3, S.new(1, 2), [1].each, Set[1], "ab", 3, 1.5, "a".."c", [1].lazy, ENV]
SKIP = %i[sleep exit abort fork gets loop trap exec select readlines readline system p puts print pp srand exit! raise fail binding caller irb chain + clone dup % slice_before slice_after chunk_while slice_when to_enum enum_for display size with_object with_index freeze lazy eager each_entry_ garbage_collect reset clear test]
wrong = []
count = 0
RECEIVERS.each do |recv|
  (recv.public_methods - Object.instance_methods + [:then]).sort.each do |m|
    next if SKIP.include?(m)
    [[], [1]].each do |args|
      r = recv.frozen? || recv == ENV || recv.is_a?(Module) ? recv : recv.dup
      begin
        e = r.public_send(m, *args)
      rescue Exception
        next
      end
      next unless e.is_a?(Enumerator) && !e.equal?(r)
      count += 1
      t = e.inspect
      shown = args.empty? ? ":#{m}>" : ":#{m}(#{args.map(&:inspect).join(", ")})>"
      wrong << "#{recv.class}##{m}(#{args.inspect[1..-2]}) gives #{t}" unless t.end_with?(shown) || t.end_with?("#{shown}>") || t =~ /\A\(/
    end
  end
end
puts wrong
puts count > 100 ? "many" : count
