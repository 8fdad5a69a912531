# frozen_string_literal: true

# bin/proof: reads the command line, runs proofs, prints and keeps their reports.

require "fileutils"
require "json"
require_relative "../../lib/larder/cli/command"
require_relative "catalogue"

module Proof
  # The command line.
  class Command < Larder::CLI::Command
    BANNER = <<~TEXT.freeze
      usage: bin/proof [options] [NAME...]

      Attacks Larder, and prints the results with counts. Without a name all proofs run. A proof that counted nothing
      has failed.

      #{Catalogue::ALL.map { |name, proof| format("  %-11s %s", name, proof::HELP) }.join("\n")}

      `bin/test` runs a bounded part of some (--quick), `bin/test --matrix` of all.

      Options:
    TEXT

    def initialize(...)
      super
      @settings = { quick: false, minutes: nil }
      @json = @record = @list = false
    end

    private

    def operands(rest)
      @names = rest
      unknown = rest - Catalogue::ALL.keys
      return if unknown.empty?

      raise Larder::CLI::UsageError, "unknown proof #{unknown.first}; known: #{Catalogue::ALL.keys.join(", ")}"
    end

    # @return [Integer] exit code: 0 if all hold
    def act
      return list if @list

      $stdout.sync = true
      reports = (@names.empty? ? Catalogue::ALL.keys : @names).filter_map { |name| prove(name) }
      puts JSON.pretty_generate(reports.map(&:to_h)) if @json
      summarize(reports) if reports.size > 1 && !@json
      reports.all?(&:passed?) ? 0 : 1
    end

    def parser
      @parser ||= explained(BANNER, width: 16) do |options|
        options.on("--quick", "the short form, at most a minute each") { @settings[:quick] = true }
        options.on("--minutes N", Float, "duration of fuzz, machines and soak") do |minutes|
          raise OptionParser::InvalidArgument, "#{minutes}: must be more than 0" unless minutes.positive?

          @settings[:minutes] = minutes
        end
        options.on("--record", "write the report to proof/reports/") { @record = true }
        options.on("--json", "print the reports as JSON") { @json = true }
        options.on("--names", "only list the proofs, and why one cannot be run here") { @list = true }
      end
    end

    def list
      Catalogue::ALL.each { |name, proof| puts [name, proof.new.missing].compact.join("\t") }
      0
    end

    # @return [Proof::Report, nil] nil where it cannot be run here
    def prove(name)
      proof = Catalogue::ALL.fetch(name).new(**@settings)
      missing = proof.missing
      return warn("bin/proof: #{name} cannot be run here: #{missing}") if missing

      report = Report.new(name, proof.class::TITLE, facts)
      started = now
      proof.attack(report)
      report.seconds = now - started
      puts report.text unless @json
      keep(report) if @record
      report
    end

    def keep(report)
      base = File.join(ROOT, "proof/reports", report.name)
      FileUtils.mkdir_p(File.dirname(base))
      File.write("#{base}.md", report.markdown)
      File.write("#{base}.json", "#{JSON.pretty_generate(report.to_h)}\n")
    end

    def summarize(reports)
      puts "Summary:", ""
      reports.each { |report| puts format("  %-11s %s", report.name, report.verdict) }
    end

    # Names no machine and no user.
    def facts
      { mode: @settings[:quick] ? "quick" : "full", commit: House::Environment.commit,
        system: House::Environment.said("uname", "-sm"), compiler: House::Environment.said("cc", "--version"),
        ruby: RUBY_DESCRIPTION[/\Aruby \S+/],
        date: Time.now.utc.strftime("%Y-%m-%d") }
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
