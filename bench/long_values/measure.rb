# frozen_string_literal: true

# Counts the page faults of a read of a long String: they depend on malloc, and on whether Ruby has collected earlier
# Strings. The process has read as many as are counted before.
#
# usage: measure.rb DIRECTORY BYTES [kept]; "kept" keeps all Strings that were read; prints page faults a read

require "active_support"
require "active_support/cache/larder_store"
require "tmpdir"

kept = [] if ARGV[2] == "kept"
times = kept ? 2_000 : 20_000
faults = -> { Integer(File.read("/proc/self/stat").rpartition(") ").last.split[7]) }

Dir.mktmpdir("larder-bench", ARGV.fetch(0)) do |directory|
  cache = ActiveSupport::Cache::LarderStore.new(File.join(directory, "cache.larder"), size: 64 << 20)
  50.times { |number| cache.write(number.to_s, "x" * Integer(ARGV.fetch(1))) }
  read = lambda do
    times.times do |number|
      value = cache.read((number % 50).to_s) || raise("a miss")
      kept&.push(value)
    end
  end
  read.call
  before = faults.call
  read.call
  puts format("%.1f page faults a read", (faults.call - before).fdiv(times))
end
