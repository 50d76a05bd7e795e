# What experiments found, kept one by one, so that a command that was stopped can go on where it was.
#
# A folder has a file for each experiment: what was printed, its bounds and data, and what they are of: the command's build and programs, its
# options, the machine, the commit, the date, the load. What is kept counts as long as build, programs and options are the same. Figures of two
# machines never stand in one folder.
require "digest"
require "json"

module Bench
  class Ledger
    FOLDER = "experiments"

    # `words` are the options that change figures, `sources` the files of which a change changes them.
    def initialize(out, machine:, words:, sources:, binaries:)
      @folder = out && File.join(out, FOLDER)
      @machine = machine
      digest = Digest::SHA256.new
      digest << JSON.generate(words)
      (sources.sort + binaries).each { |f| digest << File.basename(f) << "\0" << Digest::SHA256.file(f).hexdigest }
      @of = digest.hexdigest[0, 16]
      FileUtils.mkdir_p(@folder) if @folder
    end

    # Kept results of another machine: its description, or nil.
    def other_machine = kept.filter_map { |_, k| k["machine"] unless k["machine"] == @machine }.first

    # What was found and still holds; nil: it has to be measured.
    def [](name)
      found = kept[name]
      found if found && found["of"] == @of && !found["failed"]
    end

    # The lowest calibration of all quick ones that are kept, or of all others.
    def calibration(quick) = kept.filter_map { |_, k| k["calibration"]&.min if k["quick"] == quick }.min

    def []=(name, found)
      return unless @folder
      found = found.merge("of" => @of, "machine" => @machine)
      file = File.join(@folder, "#{name}.json")
      File.write("#{file}.new", JSON.pretty_generate(found).gsub(Bench::ROOT, "") + "\n")
      File.rename("#{file}.new", file)
      kept[name] = found
    end

    private

    def kept
      @kept ||= Dir.glob(@folder ? File.join(@folder, "*.json") : "").to_h do |f|
        [File.basename(f, ".json"), JSON.parse(File.read(f))]
      rescue JSON::ParserError => e
        raise Child::Failed, "#{f} is no result: #{e.message}"
      end
    end
  end
end
