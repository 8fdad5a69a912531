# frozen_string_literal: true

# The program of the proof of deploys: containers with one volume, blue with this build of the gem and green with one
# whose format number is one higher, through deploys and rollbacks. Exit status 1 if a value was read after a call that
# ended it.
#
# Usage: program.rb DIRECTORY_OF_THE_OTHER_BUILD ROUNDS SEED

require "rbconfig"
require "tmpdir"
require_relative "driver"

other, rounds, seed = ARGV
OWN = ["unshare", "--pid", "--kill-child=KILL", "--ipc", "--mount-proc", "sh", "-c",
       "mount -t tmpfs none /dev/shm && exec \"$@\"", "sh"].freeze
ruby = [RbConfig.ruby, "-I#{File.expand_path("../../lib", __dir__)}", File.expand_path("container.rb", __dir__)]
programs = { blue: [*OWN, *ruby], green: [*OWN, ruby.first, "-I#{other}", *ruby.drop(1)] }

unless system(*OWN, "true", err: File::NULL)
  puts "@note not run here, for no namespaces can be made: two builds of the gem in containers"
  exit
end

Dir.mktmpdir("larder-deploy-") do |directory|
  driver = DeployProof::Driver.new(programs, directory, Random.new(Integer(seed)))
  driver.start(:blue)
  Integer(rounds).times do |round|
    driver.play(100, finds: [:blue])
    driver.start(:green)
    driver.play(300, finds: [:green])
    round.even? ? driver.kill(:green) : driver.stop(:green)
    driver.play(100, finds: [:blue])
    driver.kill(:blue) && driver.start(:blue) if round % 4 == 3
  end
  driver.start(:green)
  driver.play(100)
  driver.stop(:blue)
  driver.play(100, finds: [:green])
  driver.stop(:green)
  driver.counts.each { |label, number| puts "@ #{number} #{label} by two builds of the gem in containers" }
rescue DeployProof::Wrong => error
  puts "seed #{seed}: #{error.message}"
  exit 1
end
