# frozen_string_literal: true

require "test_helper"
require "support/command"
require "support/servers"

module House
  # The guide to many machines: each configuration runs, on two machines, which are two applications here.
  class ManyMachinesGuideTest < ActiveSupport::TestCase
    include TemporaryDirectory
    include Processes
    include Command

    ROOT = File.expand_path("../..", __dir__)
    TEXT = File.read(File.join(ROOT, "docs/guides/many-machines.md"), encoding: "UTF-8")
    BLOCKS = TEXT.scan(/^```ruby\n(.*?)^```/m).flatten.freeze

    # What a machine runs: a process of an application with that configuration.
    PROGRAM = <<~RUBY
      require "active_support"
      require "active_support/all"
      require "active_support/cache/larder_store"
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

    test "there are four configurations" do
      assert_equal 4, BLOCKS.size
      assert(BLOCKS.all?(/config\.cache_store = :larder_store/))
    end

    BLOCKS.each_with_index do |block, number|
      next if block.include?("solid_cache") # test/rails/suites/remotes.rb runs it

      test "configuration #{number + 1} runs: #{block[/remote: (.*?)$/, 1]}" do
        assert_equal "from the other machine", machine("one", block, "write")
        assert_equal "from the other machine", machine("two", block, "read")
        assert_equal "nil", machine("two", block, "delete")
        assert_equal "", machine("three", block, "read")
      end
    end

    private

    def machine(name, block, action)
      variables = { "LARDER_TEST_FILE" => path_of("#{name}.larder"), "REDIS_URL" => url_of("redis"),
                    "MEMCACHE_SERVERS" => url_of("memcached") }
      program = format(PROGRAM, block)
      out, error, status = Open3.capture3(variables, "ruby", "-w", "-rbundler/setup", "-Ilib", "-e", program, action,
                                          chdir: ROOT)
      assert_predicate status, :success?, error
      out
    end

    def url_of(server)
      (TestServers.endpoint(server) || skip("#{server} is not installed")).fetch("url")
    end
  end
end
