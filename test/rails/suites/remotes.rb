# frozen_string_literal: true

# Runs Rails' own tests of cache stores, unmodified, over LarderStore with a second level: over each store on a server
# that Rails or Solid Cache has, and over one in memory. Another machine than the one that the test talks to makes each
# store, so that what was written is read from the second level, too.
#
# Run as a program: ruby -Ilib test/rails/suites/remotes.rb DIRECTORY [OPTION OF minitest...]

require_relative "larder_case"
require_relative "../../support/servers"
require_relative "../../support/solid_cache_application"

# Tests that are skipped, by the remote store, with the reason.
LEFT_OUT = LeftOut.read(File.join(__dir__, "left_out_of_remotes.yml"))

# Over a remote store, which is empty when the test begins.
module OverRemote
  extend ActiveSupport::Concern

  include CacheStoreBehavior
  include CacheStoreVersionBehavior
  include CacheIncrementDecrementBehavior
  include CacheInstrumentationBehavior
  include CacheLoggingBehavior
  include EncodedKeyCacheBehavior

  private

  def left_out
    LEFT_OUT.fetch("every")[name] || LEFT_OUT.fetch(self.class.name, {})[name]
  end

  def lookup_store(options = {})
    super(options.merge(remote: (@remote ||= remote)))
  end

  # Skips the test where the server is not installed.
  def url_of(server)
    (TestServers.endpoint(server) || skip("#{server} is not installed")).fetch("url")
  end
end

# In this process: any ActiveSupport store will do.
class OverMemoryTest < LarderCase
  include OverRemote
  include CacheDeleteMatchedBehavior

  private

  def remote
    ActiveSupport::Cache::MemoryStore.new
  end
end

class OverRedisTest < LarderCase
  include OverRemote

  private

  def remote
    [:redis_cache_store, { url: url_of("redis") }].tap { |given| ActiveSupport::Cache.lookup_store(given).clear }
  end
end

class OverMemcachedTest < LarderCase
  include OverRemote

  private

  def remote
    [:mem_cache_store, url_of("memcached")].tap { |given| ActiveSupport::Cache.lookup_store(given).clear }
  end
end

class OverSolidCacheTest < LarderCase
  include OverRemote

  private

  def remote
    SolidCacheApplication.cache_store
  end
end

# The gems of these databases are in the bundle of one stack.
class OverSolidCacheOnPostgresqlTest < LarderCase
  include OverRemote

  private

  def remote
    skip "the gem pg is not in the bundle" unless Gem.loaded_specs.key?("pg")
    SolidCacheApplication.cache_store(url_of("postgresql"))
  end
end

class OverSolidCacheOnMariadbTest < LarderCase
  include OverRemote

  private

  def remote
    skip "the gem trilogy is not in the bundle" unless Gem.loaded_specs.key?("trilogy")
    SolidCacheApplication.cache_store(url_of("mariadb"))
  end
end

class OverValkeyTest < LarderCase
  include OverRemote

  private

  def remote
    [:redis_cache_store, { url: url_of("valkey") }].tap { |given| ActiveSupport::Cache.lookup_store(given).clear }
  end
end
