# The first program of the paper (listings 1 to 3): a code segment that starts the others, and one that reads a data segment again and
# again, each time the next one, until its index is 10.
#
#   kumi examples/segments_start.rb
require "kumihimo/segments"

class TestCodeSegment < Kumihimo::CodeSegment
  input :input1, peek: nil

  def run
    puts "index = #{input(:input1).index}"
    puts "data  = #{input1}"
    exit if input(:input1).index == 10

    # The next one waits for what comes after this one.
    TestCodeSegment.new.set_key(:input1, "key1", input(:input1).index).start
    update "key1", "String data"
  end
end

class StartCodeSegment < Kumihimo::CodeSegment
  def run
    puts "run StartCodeSegment"
    TestCodeSegment.new.set_key(:input1, "key1").start
    puts "create TestCodeSegment"
    update "key1", "String data"
  end
end

StartCodeSegment.new.execute
sleep # until a code segment ends the program
