# frozen_string_literal: true

require "test_helper"
require "rbconfig"

module Larder
  module Lab
    module Contenders
      class SolidCacheApplicationTest < ActiveSupport::TestCase
        # Prints the adapter that Rails has read.
        PRELOAD = <<~RUBY
          require "larder/lab"
          store = Larder::Lab::Contenders.const_get(ARGV.first)
          store.preload(nil)
          print Rails.application.config.database_configuration.dig("production", "adapter")
        RUBY
        STORES = [SolidCacheStore, SolidCachePostgresqlStore, SolidCacheMariadbStore].freeze

        test "processes that boot for different databases in one directory have configurations of their own" do
          with_directory do |dir|
            running = STORES.filter_map { |store| [store, preload(store, dir)] if installed?(store) }
            skip "the bundles of two stores are not installed" if running.size < 2
            assert_equal running.map { |store, _| store::ADAPTER }, running.map { |_, output| output.read }
          end
        end

        private

        def installed?(store)
          system({ "BUNDLE_GEMFILE" => gemfile(store) }, "bundle", "check", out: File::NULL, err: File::NULL)
        end

        def gemfile(store) = File.join(File.dirname(Gemfiles::LAB), "gemfiles", "#{store.bundle}.gemfile")

        # @return [IO] that its process writes to
        def preload(store, dir)
          IO.popen([{ "BUNDLE_GEMFILE" => gemfile(store) }, RbConfig.ruby, "-rbundler/setup",
                    *$LOAD_PATH.first(3).map { |path| "-I#{File.expand_path(path)}" }, "-e", PRELOAD,
                    store.name.split("::").last], chdir: dir)
        end
      end
    end
  end
end
