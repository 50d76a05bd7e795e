# What measuring commands have kept: results of experiments by command and name, in bench/NAME/results. Nothing else is a source of figures for the
# page, but folders that it is told of.
require "json"

module Compare
  # A result: its data, and what a reader must know of it.
  Result = Struct.new(:bench, :experiment, :data, :machine, :commit, :date, :load, :quick) do
    def origin = "`bench/#{bench}/run#{" --quick" if quick} #{experiment}`: #{date}, commit #{commit}, load #{load}"
  end

  class Kept
    ROOT = File.expand_path("../..", __dir__)

    attr_reader :used

    # `folders` are looked through before the tree's own: each has a folder for each command.
    def initialize(folders = [])
      @folders = folders
      @used = []
      @read = {}
    end

    # The result, or nil.
    def [](bench, experiment)
      @read.fetch([bench, experiment]) do |key|
        @read[key] = found(bench, experiment).tap { |r| @used << r if r }
      end
    end

    # What bench/run has written with --json, as a result of the same kind.
    def programs
      file = [*@folders.map { |f| File.join(f, "run.json") }, File.join(ROOT, "bench/results/run.json")].find { |f| File.exist?(f) } or return
      told = JSON.parse(File.read(file))
      @programs ||= Result.new("", "", told["rows"], told["machine"], told["commit"], told["date"], told["load"], told["rounds"].to_i < 3)
    end

    private

    def found(bench, experiment)
      file = [*@folders.map { |f| File.join(f, bench) }, File.join(ROOT, "bench", bench, "results")].map { |f| File.join(f, "experiments", "#{experiment}.json") }.find { |f| File.exist?(f) } or return
      kept = JSON.parse(File.read(file))
      return if kept["failed"]
      Result.new(bench, experiment, kept["data"][experiment], kept["machine"], kept["commit"], kept["date"], kept["load"].join(" to "), kept["quick"])
    rescue JSON::ParserError => e
      abort "bench/compare/run: #{file} is no result: #{e.message}"
    end
  end
end
