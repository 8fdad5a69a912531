# frozen_string_literal: true

# The base of the dashboard's tests: a dashboard on a cache of its own, behind Rack::Lint, and a browser without
# JavaScript that has cookies.

require "test_helper"
require "larder/dashboard"
require "rack/lint"
require "rack/test"
require "stringio"
require "support/environment"

# As in test/support/store_case.rb.
ActiveSupport::Cache.format_version = 7.1 if defined?(ActiveSupport::Cache)

# A test case with `cache` and a dashboard below /larder.
class DashboardCase < ActiveSupport::TestCase
  include TemporaryCaches
  include Rack::Test::Methods
  include Environment

  HOSTILE = "<script>alert(1)</script>\"'&`".b

  # In development, as no rule is given.
  setup do
    @before = ENV.to_h
    ENV.update("RACK_ENV" => "development", "RAILS_ENV" => nil)
    cache
  end

  teardown { ENV.replace(@before) }

  # @return [Hash] of Larder::Dashboard.new
  def settings
    @settings ||= { cache: path_of }
  end

  # @return [#call] for Rack::Test; Rack::Lint checks what goes in and comes out
  def app
    ->(env) { (@mounted ||= mounted(Larder::Dashboard.new(**settings))).call(env) }
  end

  def mounted(dashboard)
    Rack::Builder.app do
      map("/larder") { run Rack::Lint.new(dashboard) }
    end
  end

  # The next requests go to a dashboard with these options.
  def use(**given)
    @settings = { cache: path_of, **given }
    @mounted = nil
  end

  # @return [String] the page
  def page(path = "", **params)
    get("/larder/#{path}", params)
    assert_equal 200, last_response.status, last_response.body
    last_response.body
  end

  # Sends the form of the page that was read last, as a browser does.
  def send_form(path, token: token_of(last_response.body), env: { "HTTP_ORIGIN" => "http://example.org" }, **params)
    post("/larder/#{path}", { token: token, **params }, env)
    last_response
  end

  def token_of(html)
    html[/name="token" value="(\h{64})"/, 1]
  end

  # @return [String] without tags
  def text_of(html)
    CGI.unescapeHTML(html.gsub(/<[^>]+>/, " ")).gsub(/\s+/, " ")
  end

  # @return [String] what is logged to $stderr during the block
  def logged
    before, $stderr = $stderr, StringIO.new
    yield
    $stderr.string
  ensure
    $stderr = before
  end
end
