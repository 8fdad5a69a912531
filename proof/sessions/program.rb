# frozen_string_literal: true

# The program of the proof of sessions: makes so many operations from a seed, with a seeded bug if one is named, and
# prints its counts; exit status 1 if anything differed. --bugs prints the names of the bugs.

require "optparse"
require_relative "run"

options = { operations: 20_000, seed: Random.new_seed % 1_000_000_000, fault: nil }
OptionParser.new do |parser|
  parser.on("--operations N", Integer) { |number| options[:operations] = number }
  parser.on("--seed N", Integer) { |number| options[:seed] = number }
  parser.on("--bugs") do
    puts SessionProof::FaultInjection.names
    exit
  end
  parser.on("--fault NAME", SessionProof::FaultInjection.names) { |name| options[:fault] = name }
end.parse!

$stdout.sync = true
puts "@note seed #{options[:seed]}"
begin
  SessionProof::Run.new(**options).run.each { |label, number| puts "@ #{number} #{label}" }
rescue SessionProof::Difference => error
  puts "seed #{options[:seed]}: #{error.message}"
  exit 1
end
