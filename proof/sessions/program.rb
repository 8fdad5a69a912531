# frozen_string_literal: true

# The program of the proof of sessions: makes a number of operations from a seed, with a seeded bug if one is named, and
# prints its counts; exit status 1 if anything differed. --bugs prints the names of the bugs. With --shared two machines
# share the sessions by `cache:`, with --copies they have copies as well.

require "optparse"
require_relative "faults_of_machines"
require_relative "run"
require_relative "shared_run"

options = { operations: 20_000, seed: Random.new_seed % 1_000_000_000, fault: nil }
run = SessionProof::Run
faults = SessionProof::FaultInjection
OptionParser.new do |parser|
  parser.on("--operations N", Integer) { |number| options[:operations] = number }
  parser.on("--seed N", Integer) { |number| options[:seed] = number }
  parser.on("--shared") { run, faults = SessionProof::SharedRun, SessionProof::FaultsOfMachines }
  parser.on("--copies") { options[:copies] = true }
  parser.on("--bugs") do
    puts faults.names
    exit
  end
  parser.on("--fault NAME") { |name| options[:fault] = name }
end.parse!

$stdout.sync = true
puts "@note seed #{options[:seed]}"
begin
  run.new(**options).run.each { |label, number| puts "@ #{number} #{label}" }
rescue SessionProof::Difference => error
  puts "seed #{options[:seed]}: #{error.message}"
  exit 1
end
