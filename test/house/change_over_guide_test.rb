# frozen_string_literal: true

require "test_helper"
require "support/guide_files"
require "support/optional_gem"
require "support/servers"
require "support/session_guide"
require "active_support/cache/larder_store"
require "redis"

module House
  # The guide to changing over: each former and each new line is evaluated. A cache of each stores a value, and users
  # who have signed in under a former session store stay signed in under the new one.
  class ChangeOverGuideTest < ActiveSupport::TestCase
    include TemporaryDirectory
    include Processes

    TEXT = GuideFiles.text("docs/guides/change-over.md")
    BLOCKS = TEXT.scan(/^```ruby\n(.*?)^```/m).flatten.map { |block| block.split(/^# (before|after)\n/).drop(1) }
    CACHES, SESSIONS = BLOCKS.map { |parts| parts.each_slice(2).to_h }
                             .partition { |lines| lines["after"].include?("config.cache_store") }
    # Gems of former stores that only the lab has.
    APART = { ":litecache" => "litestack/litecache" }.freeze
    # Servers by what names them.
    SERVERS = { "REDIS_URL" => "redis", "cache-1.example.com" => "memcached" }.freeze
    # A process of an application with a line of the guide.
    PROGRAM = <<~RUBY
      require "json"
      require "rails"
      require "active_support/all"
      require "active_support/cache/larder_store"
      REPORT = ->(**) {}
      config = Struct.new(:cache_store).new
      %s
      cache = ActiveSupport::Cache.lookup_store(*config.cache_store)
      cache.write("k", 1)
      puts JSON.generate([cache.class.name, cache.read("k"), cache.delete("k") && cache.read("k")])
    RUBY
    # The application of Solid Cache.
    SOLID = <<~RUBY
      require "minitest"
      require "support/solid_cache_application"
      SolidCacheApplication.cache_store
    RUBY

    test "there are the stores of the headings" do
      named = CACHES.filter_map { |lines| lines["before"]&.slice(/:(\w+)/, 1) }
      assert_equal named, TEXT.scan(/^## From (\w+)$/).flatten
      assert_equal %w[cookie_store active_record_store cache_store redis_session_store],
                   (SESSIONS.map { |lines| lines["before"][/:(\w+)/, 1] })
    end

    CACHES.each_with_index do |lines, number|
      test "cache #{number + 1} is a Larder store that keeps what it is given: #{lines["after"].lines.first.strip}" do
        assert_equal ["ActiveSupport::Cache::LarderStore", 1, nil], with_servers(lines["after"]) { |text| used(text) }
      end

      next unless lines["before"]

      test "the former line of cache #{number + 1} is one: #{lines["before"].lines.first.strip}" do
        name, library = APART.find { |store, _| lines["before"].include?(store) }
        missing = OptionalGem.missing(library) if name
        skip(missing) if missing
        found = with_servers(lines["before"]) { |text| used(text) }
        assert_equal [1, nil], found.drop(1)
        assert_no_match(/Larder/, found.first)
      end
    end

    SESSIONS.each do |lines|
      test "a user who has signed in stays so: #{lines["before"].lines.first.strip}" do
        with_servers("#{lines["before"]}#{lines["after"]}") do
          cookies = in_child { in_directory { former(lines["before"]) } }
          found = in_child { in_directory { Examples.changed(with_sessions(lines["after"]), cookies) } }
          assert_equal Examples::SIGNED_IN.to_json, found.first
          assert_equal [true, 1, "{}", "{}"], found.drop(1)
        end
      end
    end

    private

    # @return [Array] the class of the store, a value that was stored, and after it was deleted
    def used(lines)
      FileUtils.mkdir_p(path_of("db"))
      program = (lines.match?(/= :solid_cache_store/) ? SOLID : "") + format(PROGRAM, lines)
      out, error, status = Open3.capture3({ "LARDER_PATH" => nil }, RbConfig.ruby, "-rbundler/setup",
                                          *%w[lib test].map { |name| "-I#{File.join(GuideFiles::ROOT, name)}" },
                                          "-e", program, chdir: directory)
      assert_predicate status, :success?, error
      JSON.parse(out.lines.last)
    end

    # @return [Hash{String=>String}] cookies of a user who has signed in under the former configuration
    def former(lines)
      return in_redis if lines.include?(":redis_session_store")

      Examples.table
      Examples.shop(with_sessions(lines)).tap { |browser| browser.visit("GET", "/sign_in") }.cookies
    end

    # The gem redis-session-store has keys of this form, and values in JSON.
    def in_redis
      id = SecureRandom.hex(16)
      Redis.new(url: ENV.fetch("REDIS_URL"))
           .set("shop:session:#{Rack::Session::SessionId.new(id).private_id}", Examples::SIGNED_IN.to_json)
      { "_shop_session" => id }
    end

    def with_sessions(lines)
      return lines unless lines.include?("SESSIONS")

      "SESSIONS = ActiveSupport::Cache.lookup_store(:file_store, #{path_of("former").inspect})\n#{lines}"
    end

    def in_directory(&block)
      Dir.chdir(directory, &block)
    end

    # @yieldparam lines [String] that name servers which run
    def with_servers(lines)
      return yield lines unless (server = SERVERS.find { |text, _| lines.include?(text) }&.last)

      url = TestServers.endpoint(server)&.fetch("url") || skip("#{server} is not installed")
      Redis.new(url: url).tap(&:flushall).close if server == "redis"
      with_variable(url) { yield lines.sub(/"cache-1[^{]*(?=, \{)/, url.inspect) }
    end

    def with_variable(url)
      before = ENV.fetch("REDIS_URL", nil)
      ENV["REDIS_URL"] = url
      yield
    ensure
      ENV["REDIS_URL"] = before
    end
  end
end
