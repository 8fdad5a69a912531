# frozen_string_literal: true

require "stringio"
require_relative "report_schema"

# Runs a command from the command line to its report.
module ReportedRuns
  private

  # @param name [String] of a command
  # @return [Object] its options
  def options_of(name, *arguments)
    silent = Larder::CLI::Terminal.new(StringIO.new)
    Larder::Lab::Commands.fetch(name).new(silent, silent).options_for(arguments)
  end

  # @return [Array(Hash, String)] the report, and what was printed; no process and no other file is left
  def run_reported(*arguments)
    with_directory do |dir|
      File.chmod(0o711, dir) # PostgreSQL runs as another user
      file = File.join(dir, "run.json")
      outcome = lab(*arguments, "--json", file, env: { "COLUMNS" => "200", "TMPDIR" => dir })
      assert_equal 0, outcome.status, outcome.err + outcome.out
      assert_equal ["run.json"], Dir.children(dir)
      assert_empty processes(dir)
      report = JSON.parse(File.read(file))
      assert_empty ReportSchema.errors(report)
      [report, outcome.out]
    end
  end

  # @return [Hash] row => block => name => a figure of each process
  def figures(report)
    report["chapters"].first.dig("details", "recorded").transform_values { |facts| facts["figures"] }
  end

  def measures(report) = report["chapters"].first["measures"].map { |measure| measure["key"] }
end
