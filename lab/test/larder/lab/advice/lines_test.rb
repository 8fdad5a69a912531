# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Advice
      class LinesTest < ActiveSupport::TestCase
        # Boots an application of the lines alone, and has its cache keep a value.
        APPLICATION = <<~RUBY
          require "rails"
          require "active_support/core_ext/numeric/bytes" # as rails/all does
          require "action_controller/railtie"
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

        test "an application boots with Larder and codecs" do
          assert_equal "ActiveSupport::Cache::LarderStore", boot(lines("larder", "message_pack", "zstd-3").store)
        end

        test "an application boots with servers, Marshal that is signed, and Larder in front of each" do
          with_server("redis") do |redis|
            with_server("memcached") do |memcached|
              servers = { "REDIS_URL" => redis["url"], "MEMCACHE_SERVERS" => memcached["url"],
                          "CACHE_SECRET" => "x" * 16 }
              { "redis" => "Redis", "memcached" => "Mem" }.each do |store, name|
                made = lines(store, "marshal", "snappy")
                assert_equal "ActiveSupport::Cache::#{name}CacheStore", boot(made.store, servers)
                front = made.in_front(messages: true, seconds: 5.0)
                assert_equal "ActiveSupport::Cache::LarderStore", boot(front, servers)
              end
            end
          end
        end

        test "a store gets room for what is cached, and the gems are those that the lines need" do
          assert_equal "config.cache_store = :larder_store, {\n  size: 22.megabytes\n}\n", lines("larder").store
          assert_match(/:solid_cache_store, \{\n  max_size: 22\.megabytes,\n  coder: /,
                       lines("solid_cache", "native", "none").store)
          { %w[redis message_pack zstd-3] => %w[larder redis msgpack zstd-ruby], %w[redis] => %w[redis], %w[file] => [],
            %w[solid_cache-postgresql native none] => %w[larder solid_cache pg] }
            .each { |choice, gems| assert_equal gems, lines(*choice).gems }
        end

        private

        def lines(store, serializer = "default", compressor = "default")
          Lines.new(Choice.new(store, serializer, compressor), bytes: 20_000_000)
        end

        def boot(code, variables = {})
          skip "the codecs' gems are not installed: bin/lab installs them" unless File.exist?("#{GEMFILE}.lock")
          with_directory do |dir|
            File.write(File.join(dir, "production.rb"), code)
            out, status = Open3.capture2e({ "BUNDLE_GEMFILE" => GEMFILE, "RAILS_ENV" => "production", **variables },
                                          RbConfig.ruby, "-e", APPLICATION, chdir: dir)
            assert status.success?, "#{code}\n#{out}"
            out.lines.last.strip
          end
        end
      end
    end
  end
end
