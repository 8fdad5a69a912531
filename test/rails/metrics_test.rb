# frozen_string_literal: true

require "support/store_case"
require "support/shop"

# The pages of metrics and health in a real Rails application, by the routes of the guide.
class MetricsPagesTest < StoreCase
  include RailsShop

  GUIDE = File.read(File.expand_path("../../docs/guides/metrics.md", __dir__), encoding: "UTF-8")
  ROUTES = GUIDE.scan(/^```ruby\n(# config\/routes\.rb\n.*?)^```/m).flatten
  ASK = <<~RUBY
    ENV["LARDER_METRICS_TOKEN"] = "secret"
    ask = lambda do |path, token|
      answer = Rack::MockRequest.new(Rails.application).get(path, "HTTP_AUTHORIZATION" => "Bearer \#{token}")
      [answer.status, answer.body]
    end
  RUBY

  test "a page of metrics is there for the token, and not without it" do
    opened, closed = in_rails("#{ASK}#{ROUTES.first}\nRails.cache.write('a', 1)\n" \
                              "[ask['/metrics', 'secret'], ask['/metrics', 'other']]")
    assert_equal 200, opened.first
    assert_match(/^larder_up 1\n/, opened.last)
    assert_match(/^larder_stores_total 1\n/, opened.last)
    assert_equal [404, ""], closed, "the page of Rails, as for a path without a route"
  end

  slow_test "a page without options is there in development alone" do
    script = "require 'larder/metrics'\nRails.application.routes.draw { mount Larder::Metrics => '/metrics' }\n" \
             "get('/metrics').first"
    assert_equal [200, 404], (%w[development production].map { |env| in_rails("#{ASK}#{script}", env: env) })
  end

  slow_test "a page of health is there, and a Proc gets Rails' request" do
    script = <<~RUBY
      health = ask["/cache_health", "secret"]
      Rails.application.routes.draw do
        mount Larder::Metrics.new(allow: ->(request) { request.remote_ip == "1.2.3.4" }) => "/metrics"
      end
      near = Rack::MockRequest.new(Rails.application).get("/metrics", "HTTP_X_FORWARDED_FOR" => "1.2.3.4")
      [health, near.status, get("/metrics").first]
    RUBY
    health, *statuses = in_rails("#{ASK}#{ROUTES.last}#{script}")
    assert_equal 200, health.first # nothing has used the cache, so there is no file
    assert_equal [200, 404], statuses
  end

  slow_test "a store of Rails' own is named by an error" do
    output, status = boot("require 'larder/metrics'; Larder::Metrics.text", cache_store: ":memory_store")
    assert_not_predicate status, :success?
    assert_includes output, "Rails.cache is ActiveSupport::Cache::MemoryStore, not a Larder store"
  end
end
