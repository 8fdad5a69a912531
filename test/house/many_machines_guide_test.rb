# frozen_string_literal: true

require "test_helper"
require "support/command"
require "support/servers"
require "support/redis_cluster"
require "active_support/cache/larder_store"
require "redis"

module House
  # The guides to many machines: each configuration runs, on two machines, which are two applications here.
  class ManyMachinesGuideTest < ActiveSupport::TestCase
    include TemporaryDirectory
    include Processes
    include Command

    ROOT = File.expand_path("../..", __dir__)
    TEXT = File.read(File.join(ROOT, "docs/guides/many-machines.md"), encoding: "UTF-8")
    BLOCKS = TEXT.scan(/^```ruby\n(.*?)^```/m).flatten.select { |block| block.include?("config.") }
    FAILURES = File.read(File.join(ROOT, "docs/guides/many-machines-failures.md"), encoding: "UTF-8")

    # What a machine runs: a process of an application with that configuration.
    PROGRAM = <<~RUBY
      require "active_support"
      require "active_support/all"
      require "active_support/cache/larder_store"
      require "redis-clustering" if Gem.loaded_specs.key?("redis-clustering")
      config = Struct.new(:cache_store).new
      %s
      given = config.cache_store
      given = [given.first, ENV.fetch("LARDER_TEST_FILE"), given.last]
      cache = ActiveSupport::Cache.lookup_store(*given)
      case ARGV.first
      when "write"
        cache.write("k", "from the other machine", tags: "t")
        print cache.fetch("k") { "lost" }
      when "read" then print cache.read("k")
      when "delete" then cache.delete_tagged("t") && print(cache.read("k").inspect)
      end
    RUBY

    # Of an application with Solid Cache.
    SOLID = <<~RUBY
      require "minitest"
      require "support/solid_cache_application"
      SolidCacheApplication.boot
      SolidCacheApplication.connect(ENV.fetch("DATABASE_URL"))
    RUBY
    # What a configuration needs, by what it names, and what is set.
    NEEDS = { "REDIS_URL" => :redis_url, "MEMCACHE_SERVERS" => :memcached_servers, "DATABASE_URL" => :postgresql_url,
              "REDIS_CLUSTER" => :redis_cluster }.freeze

    teardown do
      @running&.each(&:stop)
      @places&.each { |place| FileUtils.rm_rf(place) }
    end

    test "there are five configurations" do
      assert_equal 5, BLOCKS.size
      assert(BLOCKS.all?(/config\.cache_store = :larder_store/))
    end

    test "the statistics that it shows are those of a store" do
      shown = FAILURES[/^Rails\.cache\.stats\[:remote\]\n#=> \{ (.*?) \}$/m, 1]
      store = ActiveSupport::Cache::RedisCacheStore.new(url: "redis://127.0.0.1:1")
      cache = ActiveSupport::Cache::LarderStore.new(path_of("shown.larder"), remote: store)
      told = cache.stats[:remote].map { |name, value| "#{name}: #{value.inspect}" }.join(", ")
      assert_equal shown.gsub(/\n# +/, " "), told
    end

    BLOCKS.each_with_index do |block, number|
      test "configuration #{number + 1} runs: #{block[/remote: (.*?)$/, 1]}" do
        assert_equal "from the other machine", machine("one", block, "write")
        assert_equal "from the other machine", machine("two", block, "read")
        assert_equal "nil", machine("two", block, "delete")
        assert_equal "", machine("three", block, "read")
      end
    end

    private

    def machine(name, block, action)
      @needed ||= NEEDS.filter_map { |variable, need| [variable, send(need)] if block.include?(variable) }.to_h
      variables = { "LARDER_TEST_FILE" => path_of("#{name}.larder"), **@needed }
      program = (block.include?("solid_cache") ? SOLID : "") + format(PROGRAM, block)
      out, error, status = Open3.capture3(variables, "ruby", "-w", "-rbundler/setup", "-Ilib", "-Itest", "-e", program,
                                          action, chdir: ROOT)
      assert_predicate status, :success?, error
      out.lines.grep_v(/DEPRECATION\] The binary protocol/).join # Dalli's, before Ruby 3.2
    end

    def redis_url
      url_of("redis")
    end

    def postgresql_url
      skip "the gem pg is not in the bundle" unless Gem.loaded_specs.key?("pg")
      url_of("postgresql")
    end

    def memcached_servers
      type = Larder::Lab::Servers.fetch("memcached")
      skip "memcached is not installed" unless type.path

      Array.new(3) { run_in_place { |place| type.new(place) } }.map { |server| server.endpoint.fetch("url") }.join(",")
    end

    def redis_cluster
      skip "redis-server is not installed" unless RedisCluster::Node.path
      skip "the gem redis-clustering is not in the bundle" unless Gem.loaded_specs.key?("redis-clustering")

      run_in_place { |place| RedisCluster.new(place) }.urls.join(",")
    end

    def run_in_place
      (@places ||= []) << Dir.mktmpdir("larder-test")
      yield(@places.last).tap { |server| (@running ||= []) << server }.start
    end

    def url_of(server)
      (TestServers.endpoint(server) || skip("#{server} is not installed")).fetch("url")
    end
  end
end
