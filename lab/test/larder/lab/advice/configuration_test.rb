# frozen_string_literal: true

require "test_helper"
require "support/sample_parts"
require "larder/lab/advice/configuration"
require "larder/lab/advice/sections/machines"
require "larder/lab/servers"

module Larder
  module Lab
    module Advice
      class ConfigurationTest < ActiveSupport::TestCase
        include LabHelper

        # Boots an application of the lines alone, and has its cache keep a value.
        APPLICATION = <<~RUBY
          require "rails"
          require "active_support/core_ext/numeric/bytes" # as rails/all does
          require "larder"
          Class.new(Rails::Application) do
            def self.name = "PastedApplication"
            config.root = Dir.pwd
            config.load_defaults(Rails.gem_version.segments.first(2).join(".").to_f)
            config.eager_load = false
            config.secret_key_base = "x" * 64
            config.logger = Logger.new(IO::NULL)
            instance_eval(File.read("production.rb"))
          end
          Rails.application.initialize!
          value = { "id" => 1, "name" => "pear " * 1000, "at" => Time.at(0).utc }
          abort "not written" unless 2400.times.any? { Rails.cache.write("key", value) || !sleep(0.05) } # it opens a file
          abort "read \#{Rails.cache.read("key").inspect}" unless Rails.cache.read("key") == value
          puts Rails.cache.class
        RUBY
        GEMFILE = File.expand_path("../../../../gemfiles/codecs.gemfile", __dir__)

        def configuration(store, serializer, compressor, **options)
          Configuration.new(Choice.new(store, serializer, compressor), room: 20_000_000, **options)
        end

        def boot(configuration, variables = {})
          with_directory do |dir|
            File.write(File.join(dir, "production.rb"), configuration.code)
            out, status = Open3.capture2e({ "BUNDLE_GEMFILE" => GEMFILE, "RAILS_ENV" => "production", **variables },
                                          RbConfig.ruby, "-e", APPLICATION, chdir: dir)
            assert status.success?, "#{configuration.code}\n#{out}"
            out.lines.last.strip
          end
        end

        def with_server(name)
          with_directory do |dir|
            server = Servers.fetch(name).new(dir).start
            yield server.endpoint["url"]
          rescue Unavailable => error
            skip error.message
          ensure
            server&.stop
          end
        end

        Lines = Struct.new(:code)

        # What is advised for several machines that share a server.
        def before(store)
          parts = SampleParts.build(stores: SampleParts::STORES.slice("larder", "larder with codecs", store))
          ranking = SampleParts.ranking(parts, hosts: "4")
          given = Configuration.new(ranking.best, room: 20_000_000)
          blocks = Sections::Machines.new(Arrangements.new(ranking), given).to_a.flat_map(&:blocks)
          Lines.new(blocks.find { |block| block.kind == "code" }.text.gsub(/^gem .*\n/, ""))
        end

        setup do
          skip "the codecs' gems are not installed: bin/lab installs them" unless File.exist?("#{GEMFILE}.lock")
        end

        test "an application boots with Larder" do
          assert_equal "ActiveSupport::Cache::LarderStore", boot(configuration("larder", "message_pack", "zstd-3"))
        end

        test "an application boots with the memory store" do
          assert_equal "ActiveSupport::Cache::MemoryStore", boot(configuration("memory", "native", "lz4"))
        end

        test "an application boots with Redis, and Marshal that is signed" do
          with_server("redis") do |url|
            lines = configuration("redis", "marshal", "gzip-6")
            assert_equal "ActiveSupport::Cache::RedisCacheStore",
                         boot(lines, { **lines.variables.compact, "REDIS_URL" => url })
          end
        end

        test "an application boots with memcached" do
          with_server("memcached") do |url|
            assert_equal "ActiveSupport::Cache::MemCacheStore",
                         boot(configuration("memcached", "native", "brotli-5"), "MEMCACHE_SERVERS" => url)
          end
        end

        test "an application boots with Larder before Redis, and before memcached" do
          with_server("redis") do |redis|
            with_server("memcached") do |memcached|
              { "redis" => "REDIS_URL", "memcached" => "MEMCACHE_SERVERS" }.each do |store, variable|
                lines = before(store)
                assert_includes lines.code, "ENV.fetch(\"#{variable}\")"
                assert_equal "ActiveSupport::Cache::LarderStore",
                             boot(lines, "REDIS_URL" => redis, "MEMCACHE_SERVERS" => memcached)
              end
            end
          end
        end

        test "the gems that the lines need" do
          assert_equal "gem \"larder\"\ngem \"redis\"\ngem \"msgpack\"\ngem \"zstd-ruby\"\n",
                       configuration("redis", "message_pack", "zstd-3").gemfile
          assert_equal "gem \"redis\"\n", configuration("redis", "marshal", "zlib").gemfile
          assert_nil configuration("file", "marshal", "zlib").gemfile
        end

        test "Solid Cache on PostgreSQL is Rails' store, with the database's gem" do
          lines = configuration("solid_cache-postgresql", "native", "none")
          assert_match(/\Aconfig.cache_store = :solid_cache_store, \{\n  max_size: 22\.megabytes,/, lines.code)
          assert_match(/"solid_cache"\ngem "pg"/, lines.gemfile)
        end

        test "Rails' own defaults are no options" do
          assert_equal "config.cache_store = :redis_cache_store, {\n  url: ENV.fetch(\"REDIS_URL\")\n}\n",
                       configuration("redis", "marshal", "zlib").code
        end

        test "room for what is cached, and some more" do
          assert_match(/size: 22\.megabytes/, configuration("larder", "larder", "none").code)
          assert_match(/sign_with: ENV\.fetch\("CACHE_SECRET"\)/, configuration("redis", "marshal", "lz4").code)
          refute_match(/sign_with/, configuration("redis", "marshal", "lz4", trust: true).code)
        end
      end
    end
  end
end
