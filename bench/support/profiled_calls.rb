# frozen_string_literal: true

# Calls `fetch` under callgrind. Started by profile.rb: ruby profiled_calls.rb METER DIRECTORY KIND CALLS

require "active_support"
require "active_support/core_ext/integer/time"
require "active_support/core_ext/numeric/time"
require "active_support/cache/larder_store"
require ARGV.fetch(0)

abort "profiled_calls.rb: runs under valgrind only" unless Meter.running?

KEYS = 200
ActiveSupport::Cache.format_version = 7.1
store = ActiveSupport::Cache::LarderStore.new(File.join(ARGV.fetch(1), "profile.larder"), size: 64 << 20)
made = 0
CALLS = {
  "hit" => lambda do |count|
    i = 0
    while i < count
      store.fetch(["key", i % KEYS], expires_in: 5.minutes) { "Hello World!" }
      i += 1
    end
  end,
  "fill" => lambda do |count|
    i = 0
    while i < count
      store.fetch(["key", made += 1], expires_in: 5.minutes) { "Hello World!" }
      i += 1
    end
  end
}.freeze

call = CALLS.fetch(ARGV.fetch(2))
3.times { call.call(KEYS) } # the first of a hit are misses; after them, inline caches are full
GC.start
GC.disable
Meter.start
call.call(Integer(ARGV.fetch(3)))
Meter.stop("calls")
