# frozen_string_literal: true

# Passwords of `remote:`, `backplane:` and stores of sessions in errors, reports and what `inspect` answers.

require "test_helper"
require "active_support/cache/larder_store"
require "larder/sessions"
require "dalli"
require "redis"

class LarderRemoteAddressesTest < ActiveSupport::TestCase
  include TemporaryCaches

  PASSWORD = "s3cr3t w/o:end"
  TYPED = "s3cr3t"
  # Nothing listens there.
  NOWHERE = "127.0.0.1:1"
  URL = "redis://user:#{TYPED}@#{NOWHERE}".freeze
  # Values of remote:, and what the error says of each.
  REMOTES = {
    URL => /is "redis:..user:\[hidden\]@127/,
    URI(URL) => /is #<URI::Generic redis:..user:\[hidden\]@127/,
    { url: URL, password: PASSWORD } => /password(=>|: )"\[hidden\]"/,
    [URL] => /is \["redis:..user:\[hidden\]@127/,
    Struct.new(:url).new(URL) => %r{redis://user:\[hidden\]@127},
    [:redis_cache_store, { url: "redis://user:#{PASSWORD}@h:bad" }] => %r{bad URI.*redis://user:\[hidden\]@h:bad},
    [:redis_cache_store, { url: "http://user:#{TYPED}@h" }] => %r{http://user:\[hidden\]@h},
    [:redis_cache_store, { url: "redis://:#{TYPED}@h:99999" }] => /the port is 99999; it takes a number from 1 to/,
    [:redis_cache_store, { host: "h", port: 0, password: TYPED }] => /the port is 0; it takes/,
    [:redis_cache_store, { name: "m", sentinels: [{ host: "h", port: 70_000 }] }] => /the port is 70000; it takes/,
    [:mem_cache_store, "user:#{TYPED}@h:11211"] => /parse hostname user:\[hidden\]@h:11211/,
    [:mem_cache_store, "h:1,user:#{TYPED}@h:2"] => /parse hostname user:\[hidden\]@h:2/,
    [:mem_cache_store, "h:99999"] => /the port is 99999; it takes/
  }.freeze

  setup { @logger, Dalli.logger = Dalli.logger, Logger.new(nil) }
  teardown { Dalli.logger = @logger }

  def store(**options)
    ActiveSupport::Cache.lookup_store(:larder_store, path_of("cache.larder"), { size: 8 << 20, **options })
  end

  # @return [StandardError] what the block raises, in whose whole text there is no password
  def refused(given, type = ArgumentError, &block)
    error = assert_raises(type, given.inspect, &block)
    whole = error.full_message
    [TYPED, PASSWORD].each { |secret| assert_not_includes whole, secret, given.inspect }
    error
  end

  REMOTES.each_with_index do |(given, message), number|
    test "an error of remote: is said without a password, #{number}" do
      assert_match message, refused(given) { store(remote: given) }.message
    end
  end

  test "addresses that a client has from its environment variable have passwords, too" do
    { "REDIS_URL" => :redis_cache_store, "MEMCACHE_SERVERS" => :mem_cache_store }.each do |variable, name|
      was, ENV[variable] = ENV.fetch(variable, nil), "user:#{TYPED}@h:bad"
      assert_match(/user:\[hidden\]@h:bad/, refused(name) { store(remote: name) }.message)
    ensure
      ENV[variable] = was
    end
  end

  test "a store that the application has made with a wrong address" do
    made = ActiveSupport::Cache::MemCacheStore.new("user:#{TYPED}@h:bad")
    assert_match(/that Dalli refuses: .*user:\[hidden\]@h:bad/, refused(made) { store(remote: made) }.message)
    made = ActiveSupport::Cache::RedisCacheStore.new(redis: Redis.new(host: "h", port: 70_000, password: TYPED))
    assert_match(/the port is 70000/, refused(made) { store(remote: made) }.message)
  end

  test "stores of sessions" do
    [:cache, :backed_by].each do |option|
      [[:redis_cache_store, { url: "redis://user:#{TYPED}@h:bad" }], [:mem_cache_store, "user:#{TYPED}@h:bad"]]
        .each do |given|
        error = refused(given, Larder::InvalidArgument) do
          Larder::Sessions::Configuration.new(option => given, size: 8 << 20).repository(path_of("sessions.larder"))
        end
        assert_match(/#{option}: :\w+ cannot be made: .*user:\[hidden\]@h:bad/, error.message)
      end
    end
  end

  test "neither a report of an outage nor the text of a store has the password" do
    [[:redis_cache_store, { url: URL }], [:redis_cache_store, { url: [URL, "#{URL}0"] }],
     [:mem_cache_store, "memcached://user:#{TYPED}@#{NOWHERE}"],
     [:mem_cache_store, NOWHERE, { username: "user", password: TYPED }]].each_with_index do |remote, number|
      errors = []
      made = store(remote: remote, namespace: number.to_s, backplane: { url: URI(URL) },
                   error_handler: ->(exception:, **) { errors << exception.full_message })
      capture_io { made.write("k", 1) }
      assert errors.any?
      texts = [*errors, made.inspect, made.to_s, made.stats.inspect, made.remote.inspect,
               made.instance_variable_get(:@backplane).inspect]
      assert_empty(texts.select { |text| text.include?(TYPED) })
    ensure
      made&.instance_variable_get(:@backplane)&.stop
    end
  end

  HIDDEN = {
    "redis://user:pa@ss/w:rd@host:1/0" => "redis://user:[hidden]@host:1/0",
    "redis://:w0rd@host" => "redis://:[hidden]@host", "redis://w0rd@host" => "redis://[hidden]@host",
    "user:w0rd@host:1" => "user:[hidden]@host:1", "//user:w0rd@host" => "//user:[hidden]@host",
    "postgresql://h/d?password=w0rd&sslpassword=other" => "postgresql://h/d?password=[hidden]&sslpassword=[hidden]",
    "host=h password='w0 rd' user=u" => "host=h password=[hidden] user=u",
    "redis://host:6379/0" => "redis://host:6379/0", "redis://caf\xE9:\xE9x@h" => "redis://caf\uFFFD:[hidden]@h"
  }.freeze

  test "a password is hidden as it is written and as it is meant, and nothing else" do
    HIDDEN.each { |text, hidden| assert_equal hidden, Larder::Remote::Addresses.hide(text, text), text }
    assert_equal "said [hidden]", Larder::Remote::Addresses.hide("said p@ss", "redis://user:p%40ss@h")
    assert_equal '{"url"=>"redis://u:[hidden]@h"}'.delete(" "),
                 Larder::Remote::Addresses.show({ "url" => "redis://u:p\u00E4\"\xE9@h" }).delete(" ")
    text = "x is y, of 5 and key"
    assert_equal text, Larder::Remote::Addresses.hide(text, ["h:1", { host: "h", port: 1 }, nil, 5])
    assert_equal '{"sentinel_password" => "[hidden]"}'.delete(" "),
                 Larder::Remote::Addresses.show({ "sentinel_password" => "quo\"te" }).delete(" ")
  end
end
