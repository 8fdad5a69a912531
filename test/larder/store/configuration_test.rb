# frozen_string_literal: true

require "test_helper"
require "active_support/cache/larder_store"

class LarderStoreConfigurationTest < ActiveSupport::TestCase
  PASSWORD = "p@ss/word"
  # Values of `backplane:`. A row has the same servers.
  SAME = [
    ["redis://localhost", "redis://localhost:6379", "redis://localhost:6379/0", "redis://LOCALHOST:6379/3",
     "rediss://user:#{PASSWORD}@localhost:6379", ["redis://localhost"]],
    ["redis://b:1", "redis://:#{PASSWORD}@b:1"],
    [%w[redis://a:1 redis://b:1], %w[redis://b:1 redis://a:1]],
    ["unix:///run/redis.sock", "unix:/run/redis.sock"],
    ["postgresql://localhost/cache", "postgres://user:#{PASSWORD}@localhost/cache?sslmode=require",
     "postgresql://localhost/cache?password=secret"],
    ["postgresql:///cache?host=/run/postgresql"],
    ["postgresql://localhost/other"],
    [{ host: "a", port: 1 }, { "host" => "a", port: 1, password: PASSWORD, ssl: true }],
    [{ name: "main", sentinels: [{ host: "a" }, { host: "b" }] },
     { name: "main", sentinels: [{ host: "b", password: PASSWORD }, { host: "a" }], timeout: 1 }],
    [nil]
  ].freeze

  def digest(backplane, remote: "remote", life: 60.0)
    Larder::Store::Configuration.new(remote: remote, backplane: backplane, local_expires_in: life).digest
  end

  test "the same backplane has one digest, and another one has another" do
    digests = SAME.map { |same| same.map { |given| digest(given) }.uniq }
    digests.each_with_index { |found, row| assert_equal 1, found.size, SAME[row].inspect }
    assert_equal SAME.size, digests.flatten.uniq.size
  end

  test "no place has a password" do
    SAME.flatten(1).each do |given|
      assert_no_match(/p@ss|word|secret/, Larder::Store::Configuration.place(given), given.inspect)
    end
  end

  test "the remote store and local_expires_in: belong to it" do
    assert_equal 3, [digest(nil), digest(nil, remote: "other"), digest(nil, life: 5.0)].uniq.size
  end

  test "the digest is the same in every process, has 64 bits and is a name of 16 digits" do
    assert_equal digest("redis://a"), digest("redis://a")
    made = Array.new(200) { |number| digest(nil, remote: number.to_s) }
    assert(made.all? { |each| (1...(1 << 64)).cover?(each) })
    assert_equal 200, made.uniq.size
    assert_match(/\A\h{16}\z/, Larder::Store::Configuration.hex(1))
    configuration = Larder::Store::Configuration.new(remote: "a", backplane: nil, local_expires_in: 5.0)
    assert_equal format("%016x", configuration.digest), configuration.name
  end
end
