# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    class EndpointTest < ActiveSupport::TestCase
      {
        "redis://me:secret@cache.example:7000/1" => [nil, "cache.example", 7000],
        "redis://cache.example/1" => [nil, "cache.example", 6379],
        "cache.example:11211" => [nil, "cache.example", 11_211],
        "cache.example" => [nil, "cache.example", 6379],
        "unix:///run/redis.sock" => ["/run/redis.sock", nil, nil],
        "/run/memcached.sock" => ["/run/memcached.sock", nil, nil],
        "postgresql:///app?host=/run/postgresql" => ["/run/postgresql/.s.PGSQL.6379", nil, nil],
        "postgresql:///app?host=/run/postgresql&port=5433" => ["/run/postgresql/.s.PGSQL.5433", nil, nil],
        "trilogy:///app?socket=/run/mysqld.sock" => ["/run/mysqld.sock", nil, nil],
        "redis://no host" => [nil, nil, nil]
      }.each do |url, expected|
        test "#{url} says where its server is" do
          endpoint = Endpoint.given(url, port: 6379)
          assert_equal expected, endpoint.values_at("socket", "host", "port")
          assert_equal url, endpoint["url"]
          assert_equal false, endpoint["private"]
        end
      end

      {
        "redis://me:secret@cache.example:7000/1" => "redis://me:secret@127.0.0.1:4711/1",
        "cache.example:11211" => "127.0.0.1:4711",
        "cache.example" => "127.0.0.1:4711",
        "postgresql://me@db.example/app?sslmode=disable" => "postgresql://me@127.0.0.1:4711/app?sslmode=disable"
      }.each do |url, expected|
        test "#{url} is reached by way of something else" do
          given = Endpoint.given(url, port: 6379).merge("namespace" => "mine")
          endpoint = Endpoint.by_way_of(given, "127.0.0.1", 4711)
          assert_equal [expected, "127.0.0.1", 4711, false, "mine"],
                       endpoint.values_at("url", "host", "port", "private", "namespace")
        end
      end

      ["/run/redis.sock", "unix:///run/redis.sock", "postgresql:///app?host=/run/postgresql"].each do |url|
        test "nothing stands before #{url}" do
          error = assert_raises(Unavailable) { Endpoint.by_way_of(Endpoint.given(url, port: 1), "127.0.0.1", 4711) }
          assert_match(/give host and port/, error.message)
        end
      end
    end
  end
end
