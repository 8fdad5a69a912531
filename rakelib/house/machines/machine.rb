# frozen_string_literal: true

# One machine of bin/demo --machines: reads commands as lines of JSON from standard input, and answers each by one.
#
# Arguments: the path of its file, the URL of the Redis.

require "active_support"
require "active_support/cache/larder_store"
require "json"

PATH, URL = ARGV
REMOTE = [:redis_cache_store, { url: URL, reconnect_attempts: 0, timeout: 0.5, error_handler: nil }].freeze
CACHE = ActiveSupport::Cache::LarderStore.new(PATH, size: 16 << 20, remote: REMOTE, backplane: URL, error_handler: nil)

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

def await(seconds)
  limit = now + seconds
  sleep(0.0002) until yield || now > limit
  now
end

# What a command of that name answers.
COMMANDS = {
  # Does it hear of the others?
  "ready" => ->(key) { CACHE.read(key) || await(10) { CACHE.cache.trusted? } },
  "read" => ->(key) { CACHE.read(key) },
  "delete" => ->(key) { CACHE.delete(key) },
  # When the write began.
  "write" => ->(key, value) { now.tap { CACHE.write(key, value) } },
  # When it found the value.
  "await" => ->(key, value, seconds) { await(seconds) { CACHE.read(key) == value } },
  # Seconds that a read takes.
  "time" => lambda do |key, reads|
    CACHE.read(key)
    begun = now
    reads.times { CACHE.read(key) }
    (now - begun) / reads
  end,
  # Until it has noticed that Redis is dead, and uses its copies.
  "alone" => lambda do |seconds|
    await(seconds) { !CACHE.cache.trusted? }
    await(seconds) { CACHE.cache.trusted? }
  end,
  # What a Redis has that was started again from a copy.
  "restore" => lambda do |key, value|
    far = ActiveSupport::Cache.lookup_store([:redis_cache_store, { url: URL, coder: Larder::Coder.new }])
    await(5) { far.write(key, value) }
  end
}.freeze

$stdout.sync = true
while (line = $stdin.gets)
  name, *arguments = JSON.parse(line)
  puts JSON.generate(COMMANDS.fetch(name).call(*arguments))
end
