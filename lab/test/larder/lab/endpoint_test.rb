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
    end
  end
end
