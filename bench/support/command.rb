# frozen_string_literal: true

# bench/run: reads the command line, runs parts, keeps what each found, writes the report of all that are kept.

require "fileutils"
require "json"
require "tmpdir"
require_relative "figure"
require_relative "parts"
require_relative "report"
require_relative "../../rakelib/house/environment"
require_relative "../../rakelib/house/stack"
require_relative "../../lab/lib/larder/lab/environment"
require_relative "../../lib/larder/cli/command"

module Bench
  # The command line.
  class Command < Larder::CLI::Command
    BANNER = <<~TEXT.freeze
      usage: bench/run [options]

      Measures every figure that has a target, and writes bench/results/speed.md: the figures, their targets, and which
      are met. A part is one interleaved run. Results are saved in tmp/bench, so parts can be measured one at a time and
      the report contains all of them; tmp/bench/full/speed.json has the same for programs. Compile first: bundle exec
      rake compile.

      Parts:
      #{Parts::ALL.map { |name, text| format("  %-13s %s", name, text) }.join("\n")}

      Options:
    TEXT

    SAVED = "; --report writes one of the results that are saved"
    private_constant :BANNER, :SAVED

    def initialize(...)
      super
      @mode = :full
      @parts = nil
      @directory = Dir.tmpdir
      @report = nil
      @traces = []
      @stack = nil
    end

    # @param argv [Array<String>]
    # @return [Integer] exit code
    def run(argv)
      @argv = argv.dup
      super
    end

    private

    def understood
      left_out = Parts::NAMED + (@traces.empty? ? Parts::SIZES.keys : []) + (Process.uid.zero? ? [] : Parts::OF_ROOT)
      @parts ||= Parts::ALL.keys - left_out
      traceless = @traces.empty? ? @parts & Parts::SIZES.keys : []
      raise Larder::CLI::UsageError, "#{traceless.first} needs --traces" unless traceless.empty?
    end

    # @return [Integer] exit code: 0 if every chosen part was measured, whatever the targets say
    # @raise [Larder::CLI::Failure] none was: no report is written
    def act
      return on_stack if @stack

      measured = @parts.select { |name| measure(name) }
      results = kept
      if measured.empty? && (@parts.any? || results.empty?)
        raise Larder::CLI::Failure, "nothing was measured, and no report written#{SAVED unless results.empty?}"
      end

      write(Report.new(results))
      say_which(measured, results.keys)
      measured == @parts ? 0 : 1
    end

    # Parts that a reader of the report could take for others.
    def say_which(measured, reported)
      earlier = reported - measured
      puts "measured earlier: #{earlier.join(", ")}" if earlier.any?
      failed = @parts - measured
      puts "could not be measured: #{failed.join(", ")}" if failed.any?
    end

    # The same there, after setting up; what it writes is found in tmp/stacks.
    def on_stack
      place = @argv.index { |word| word.start_with?("--stack") }
      own = @argv[place].include?("=") ? 1 : 2
      rest = [*@argv.first(place), *@argv.drop(place + own), "--out", "tmp/bench/report"]
      compile = "BUNDLE_GEMFILE=$PWD/lab/Gemfile bundle exec rake compile"
      script = %(bin/setup --no-system && #{compile} && exec bench/run "$@")
      done = House::Stack.new(@stack).run(["bash", "-c", script, "bash", *rest])
      puts "see tmp/stacks/#{@stack}/bench/report"
      done ? 0 : 1
    end

    def parser
      @parser ||= explained(BANNER, width: 20) do |options|
        options.on("--quick", "a rough result in about ten minutes; results go to tmp/bench") { @mode = :quick }
        options.on("--only LIST", Array, "these parts") { |names| @parts = known(names) }
        options.on("--report", "measure nothing; write the report of saved results") { @parts = [] }
        options.on("--directory DIR", "for files, on a disk (#{Dir.tmpdir})") do |path|
          @directory = File.expand_path(path)
        end
        options.on("--traces A,B", Array, "files for the misses; the cloud trace first") do |paths|
          @traces = paths.map { |path| File.expand_path(path) }
        end
        options.on("--stack NAME", House::Stack::NAMES, "on Debian trixie, or there with a Ruby that has YJIT",
                   "(#{House::Stack::NAMES.join(", ")})") { |name| @stack = name }
        options.on("--out DIR", "where the report goes (bench/results)") { |path| @report = File.expand_path(path) }
      end
    end

    def known(names)
      unknown = names - Parts::ALL.keys
      return names if unknown.empty?

      raise Larder::CLI::UsageError, "unknown part #{unknown.join(", ")}; known: #{Parts::ALL.keys.join(", ")}"
    end

    # @return [Boolean] whether it could be measured; what was kept of it before is gone in any case
    def measure(name)
      FileUtils.rm_f(path(name))
      warn "bench/run: #{name}: #{Parts::ALL.fetch(name)}"
      environment = facts(name)
      started = now
      result = Parts.run(name, @mode, @directory, @traces)
      keep(name, environment, result, now - started)
      true
    rescue Failed => error
      warn "bench/run: #{name} could not be measured: #{error.message}"
      false
    end

    def keep(name, environment, result, seconds)
      FileUtils.mkdir_p(store)
      document = { mode: @mode, environment: environment, seconds: seconds.round(1),
                   circumstances: result.circumstances, figures: result.figures.map { |figure| figure.to_h.compact } }
      File.write(path(name), JSON.pretty_generate(document))
    end

    # @return [Hash{String => Hash}] what is kept, by part, in their order
    def kept
      Parts::ALL.keys.select { |name| File.exist?(path(name)) }
                .to_h { |name| [name, JSON.parse(File.read(path(name), encoding: "UTF-8"))] }
    end

    def write(report)
      markdown = File.join(@report || (@mode == :quick ? store : File.join(House::ROOT, "bench/results")), "speed.md")
      json = File.join(@report || store, "speed.json")
      FileUtils.mkdir_p([File.dirname(markdown), File.dirname(json)])
      File.write(markdown, report.markdown)
      File.write(json, report.json)
      puts report.tally.sort.map { |verdict, count| "#{count} #{verdict.delete("*")}" }.join(", ")
      puts "wrote #{markdown} and #{json}"
    end

    # Quick and full runs are kept apart.
    def store
      File.join(House::ROOT, "tmp/bench", @mode.to_s)
    end

    def path(name)
      File.join(store, "#{name}.json")
    end

    # Names no machine and no user.
    def facts(name)
      found = Larder::Lab::Environment.facts(name == "tails-memory" ? Parts::MEMORY : @directory)
      found = found.except(:file_system) if name == "tails-memory"
      found.except(:time, :yjit).merge(compiler: House::Environment.said("cc", "--version"),
                                       commit: House::Environment.commit, date: found[:time][0, 10])
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
