# frozen_string_literal: true

# The program of the proof of machines: chaos for some seconds, by a plan that a seed decides, with a seeded bug if
# one is named. Prints its counts; exit status 1 if anything did not hold. --bugs prints the bugs, each with the rule
# that has to find it.

require "English"
require "optparse"
require "tmpdir"
require_relative "bugs"
require_relative "run"

PROGRAM = "bundle exec ruby -Ilib proof/machines/program.rb"
options = { seconds: 40, seed: Random.new_seed % 1_000_000_000, bug: nil }
keep = nil
OptionParser.new do |parser|
  parser.on("--seconds N", Float) { |number| options[:seconds] = number }
  parser.on("--seed N", Integer) { |number| options[:seed] = number }
  parser.on("--bug NAME", MachineProof::Bugs.names) { |name| options[:bug] = name }
  parser.on("--no-faults") { options[:faults] = false }
  parser.on("--keep DIRECTORY", "keep ledgers and logs there") { |directory| keep = File.expand_path(directory) }
  parser.on("--bugs") do
    puts(MachineProof::Bugs.names.map { |name| "#{name} #{MachineProof::Bugs.rule(name)}" })
    exit
  end
end.parse!

$stdout.sync = true
puts "@note `#{PROGRAM} --seconds #{options[:seconds]} --seed #{options[:seed]}` has the same plan"
directory = keep ? FileUtils.mkdir_p(keep).first : Dir.mktmpdir("larder-machines")
begin
  result = MachineProof::Run.new(**options, directory: directory).run
  result.counts.each { |label, number| puts "@ #{number} #{label}" }
  puts result.problems
  exit(1) if result.problems.any?
ensure
  FileUtils.rm_rf(directory) unless keep
end
