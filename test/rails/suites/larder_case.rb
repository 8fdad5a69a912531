# frozen_string_literal: true

# What the runs of Rails' own tests of cache stores share: Rails' helpers, and stores on files of their own.

SUITES = File.expand_path(ARGV.shift || abort("usage: run.rb DIRECTORY OF RAILS' TESTS [OPTION OF minitest...]"))

# What happens to one test is seen by the others: listeners that stay, a logger, Time.
ENV["PARALLEL_WORKERS"] = "1"

# Helpers that Rails leaves out of its gem; what the gem has comes first.
$LOAD_PATH.push(File.join(SUITES, "activesupport/lib"))

require File.join(SUITES, "activesupport/test/abstract_unit")
require "active_support/cache/larder_store"
require File.join(SUITES, "activesupport/test/cache/behaviors")
require "redis" # Rails' tests of failures name its error
require "tmpdir"
require_relative "../../support/left_out"

if ENV["LARDER_UNTESTED_RAILS"]
  Larder::Store::FastPath.define_singleton_method(:tested?) { true }
  Larder::Store::FastPath.check
end

# Stores on a file of their own for each test, and listeners of its own: some of Rails' tests leave theirs behind.
class LarderCase < ActiveSupport::TestCase
  prepend LeftOut

  setup do
    @directory = Dir.mktmpdir("larder-rails-suites-")
    @notifier = ActiveSupport::Notifications.notifier
    ActiveSupport::Notifications.notifier = ActiveSupport::Notifications::Fanout.new
    @cache = lookup_store(expires_in: 60)
    @cache.cache.size # opens the file
  end

  teardown do
    ActiveSupport::Notifications.notifier = @notifier
    FileUtils.rm_rf(@directory)
  end

  private

  def lookup_store(options = {})
    ActiveSupport::Cache.lookup_store(:larder_store, File.join(@directory, "test.larder"),
                                      { size: 8 << 20 }.merge(options))
  end

  # Its file cannot be opened: where its directory should be is a file.
  def unavailable_store(**options)
    File.write(File.join(@directory, "file"), "")
    ActiveSupport::Cache.lookup_store(:larder_store, File.join(@directory, "file/test.larder"), options)
  end
end

# All that is not about stores on servers.
module EveryStore
  extend ActiveSupport::Concern

  include CacheStoreBehavior
  include CacheStoreVersionBehavior
  include CacheStoreCoderBehavior
  include CacheStoreCompressionBehavior
  include CacheStoreSerializerBehavior
  include CacheStoreFormatVersionBehavior
  include CacheDeleteMatchedBehavior
  include CacheIncrementDecrementBehavior
  include CacheInstrumentationBehavior
  include CacheLoggingBehavior
  include EncodedKeyCacheBehavior

  private

  # As MemoryStore.
  def compression_always_disabled_by_default?
    true
  end
end
