# frozen_string_literal: true

require_relative "reported_runs"

# What the tests of the commands about sessions have in common. A test class says in COMMAND which command it is, and in
# SMALL how it is run.
module SessionRuns
  include ReportedRuns

  private

  def options_for(*arguments) = options_of(self.class::COMMAND, *arguments)

  def run_of(*arguments) = run_reported(*self.class::SMALL, *arguments)

  def installed?(bundle)
    File.exist?(File.join(File.dirname(Larder::Lab::Gemfiles::LAB), "gemfiles", "#{bundle}.gemfile.lock"))
  end

  # Whose server is here and whose gems are installed.
  def here?(type) = installed?(type.bundle) && (type.server.nil? || Larder::Lab::Servers.fetch(type.server).path)
end
