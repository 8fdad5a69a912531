# frozen_string_literal: true

require "stringio"
require_relative "report_schema"

# What the tests of the commands about sessions have in common: a run from the command line to its report. A test class
# says in COMMAND which command it is, and in SMALL how it is run.
module SessionRuns
  private

  def options_for(*arguments)
    silent = Larder::CLI::Terminal.new(StringIO.new)
    self.class::COMMAND.new(silent, silent).options_for(arguments)
  end

  # @return [Array(Hash, String)] the report, and what was printed; no process and no other file is left
  def run_of(*arguments)
    with_directory do |dir|
      File.chmod(0o711, dir) # PostgreSQL runs as another user
      file = File.join(dir, "run.json")
      outcome = lab(*self.class::SMALL, *arguments, "--json", file, env: { "COLUMNS" => "200", "TMPDIR" => dir })
      assert_equal 0, outcome.status, outcome.err + outcome.out
      assert_equal ["run.json"], Dir.children(dir)
      assert_empty processes(dir)
      report = JSON.parse(File.read(file))
      assert_empty ReportSchema.errors(report)
      [report, outcome.out]
    end
  end

  def installed?(bundle)
    File.exist?(File.join(File.dirname(Larder::Lab::Gemfiles::LAB), "gemfiles", "#{bundle}.gemfile.lock"))
  end

  # Whose server is here and whose gems are installed.
  def here?(type)
    installed?(type.bundle) && (type.server.nil? || Larder::Lab::Servers.fetch(type.server).path)
  end

  def events(report, type)
    report["chapters"].first.dig("details", "events").select { |event| event["event"] == type }
  end

  def measures(report)
    report["chapters"].first["measures"].map { |measure| measure["key"] }
  end
end
