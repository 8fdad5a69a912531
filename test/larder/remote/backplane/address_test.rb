# frozen_string_literal: true

require "test_helper"
require "active_support/cache/larder_store"

# The place that an address names. BackplaneAddressTest has the rest, with servers.
class LarderRemoteBackplaneAddressTest < ActiveSupport::TestCase
  PASSWORD = "p%40ss%2Fword"
  # Values of `backplane:`. A row has the same servers.
  REDIS = [
    ["redis://localhost", "redis://localhost:6379", "redis://localhost:6379/0", "redis://LOCALHOST:6379/3",
     "rediss://user:#{PASSWORD}@localhost:6379", ["redis://localhost"], URI("redis://localhost"),
     { url: "redis://localhost", timeout: 1 }, { host: "localhost" }, { "url" => "redis://localhost:1", port: 6379 }],
    ["redis://b:1", "redis://:#{PASSWORD}@b:1", { host: "b", port: "1", password: PASSWORD, ssl: true }],
    [%w[redis://a:1 redis://b:1], ["redis://b:1", { host: "a", port: 1 }]],
    ["redis://a:1"],
    ["unix:///run/redis.sock", "unix:/run/redis.sock", { path: "/run/redis.sock", db: 2 }],
    [{ name: "main", sentinels: [{ host: "a" }, { host: "b" }] },
     { name: "main", sentinels: [{ host: "b", password: PASSWORD }, "redis://a:6379"], timeout: 1 },
     { url: "redis://main/1", sentinels: %w[redis://a redis://b] }],
    [{ name: "other", sentinels: [{ host: "a" }, { host: "b" }] }]
  ].freeze
  POSTGRESQL = [
    ["postgresql://h/cache", "postgres://user:#{PASSWORD}@H:5432/cache?sslmode=require",
     "postgresql://h/cache?password=secret", { host: "h", dbname: "cache", password: PASSWORD },
     { url: "postgresql://h", dbname: "cache", port: 5432 }],
    ["postgresql:///cache?host=/run/postgresql", { host: "/run/postgresql", dbname: "cache" }],
    ["postgresql://h/Cache"], ["postgresql://h:5433/cache"],
    ["postgresql://alice@h", "postgresql://alice@h/alice"], ["postgresql://bob@h"], ["postgresql:///?service=cache"]
  ].freeze

  { "Redis" => REDIS, "PostgreSQL" => POSTGRESQL }.each do |name, rows|
    test "the same servers of #{name} have one place, other servers have another, and none has a password" do
      skip "the gem pg is not in the bundle" if name == "PostgreSQL" && !Gem.loaded_specs.key?("pg")

      places = rows.map { |row| row.map { |given| place(given) }.uniq }
      places.each_with_index { |found, row| assert_equal 1, found.size, [rows[row], found].inspect }
      assert_equal rows.size, places.flatten.uniq.size
      assert_empty places.flatten.grep(/p@ss|p%40ss|word|secret/)
    end
  end

  def place(given)
    Larder::Remote::Backplane::Address.new(given).place
  end
end
