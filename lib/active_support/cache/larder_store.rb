# frozen_string_literal: true

# The Rails cache store: what it is made of and how it is built. Each part is a file of lib/larder/store/. This is the
# ordinary path, in Ruby and on top of ActiveSupport::Cache::Store, whose public methods it leaves alone wherever it can:
# Rails decides what is read, written, logged and announced, the modules decide how that meets Larder::Cache.

require "active_support"
require "active_support/cache"
require "larder"
require "larder/store"

module ActiveSupport
  module Cache
    # A cache shared by all processes of a machine, kept in one memory-mapped file: no server, no lock on reads, and
    # its content outlives restarts and killed processes.
    #
    #   config.cache_store = :larder_store
    #   config.cache_store = :larder_store, "storage/larder/cache.larder", { size: 1.gigabyte, expires_in: 1.day }
    #
    # In plain Ruby:
    #
    #   require "active_support/cache/larder_store"
    #   cache = ActiveSupport::Cache::LarderStore.new("tmp/app.larder", size: 64 << 20)
    #   cache.fetch("report", expires_in: 60) { build_report }
    #
    # == Options of the store
    #
    # | Option                | Type, default                    | Meaning                                             |
    # |-----------------------|----------------------------------|-----------------------------------------------------|
    # | (first argument)      | String, Pathname; `storage/larder/cache.larder` | The file. A relative path is taken from Rails.root, without Rails from the current directory. |
    # | `:size`               | Integer, 256 MiB                 | Bytes of the file, decided when it is created.      |
    # | `:lock_timeout`       | Numeric, 0.2                     | Longest wait of a write for a process that holds its lock, in seconds. |
    # | `:error_handler`      | callable, logs and reports       | Called with `method:, returning:, exception:` where the cache could not serve. |
    # | `:raise_errors`       | true or false, false             | Raise those errors to the caller instead.           |
    #
    # == Options of the store that a call may override
    #
    # | Option                | Type, default                    | Meaning                                             |
    # |-----------------------|----------------------------------|-----------------------------------------------------|
    # | `:expires_in`         | Numeric, Duration, nil           | Life of an entry in seconds; nil is for ever. Aliases `:expire_in`, `:expired_in`. |
    # | `:race_condition_ttl` | Numeric, nil                     | `fetch`: one caller renews an expired entry, others get the old one that long. |
    # | `:namespace`          | String, callable, nil            | Put before every key, evaluated at each call.       |
    # | `:compress`           | true or false, false             | Compress what is larger than the threshold, if that makes it smaller. |
    # | `:compress_threshold` | Integer, 1 KiB                   | Bytes. Giving it without `:compress` turns compression on. |
    # | `:raw`                | true or false, false             | Store `value.to_s` as it is, without a serializer. Needed to read and write counters. |
    # | `:skip_nil`           | true or false, false             | `fetch`, `fetch_multi`: do not store nil.           |
    # | `:force`              | true or false, false             | `fetch`, `fetch_multi`: a miss whatever is stored.  |
    #
    # == Options of the store alone, from Active Support
    #
    # | Option                | Type, default                    | Meaning                                             |
    # |-----------------------|----------------------------------|-----------------------------------------------------|
    # | `:serializer`         | `dump`/`load`, Symbol; by Rails' cache format version | Turns values into bytes.       |
    # | `:compressor`         | `deflate`/`inflate`, Zlib        | Makes bytes smaller.                                |
    # | `:coder`              | `dump`/`load` of entries to bytes | Instead of the two.                                |
    # | `:max_key_size`       | Integer, false; 250 from Rails 8.1 on, 4096 before | Longer keys end in a digest. false and more than 4096 mean 4096, which is the longest. |
    #
    # == Options of one call
    #
    # | Option                | Type                             | Meaning                                             |
    # |-----------------------|----------------------------------|-----------------------------------------------------|
    # | `:expires_at`         | Time                             | Instead of `:expires_in`.                           |
    # | `:version`            | anything with `to_param`         | An entry of another version is a miss.              |
    # | `:unless_exist`       | true or false                    | `write`: only where nothing live is stored.         |
    #
    # == When the cache cannot serve
    #
    # A read is a miss, and a write, increment or clear answers nil; the error goes to `:error_handler` once. A value
    # larger than the file can hold is reported too and its write answers false. In no case does an old value stay.
    # Errors that no later call could cure are raised by the constructor.
    class LarderStore < Store
      include Larder::Store::Failsafe
      include Larder::Store::Clock
      include Larder::Store::Keys
      include Larder::Store::Entries
      include Larder::Store::Multi
      include Larder::Store::Counters
      include Larder::Store::DeleteMatched
      include Larder::Store::Maintenance

      # @return [true] Rails may give versions beside keys ("recyclable" cache keys)
      def self.supports_cache_versioning?
        true
      end

      # @return [Larder::Cache] the cache of bytes underneath
      attr_reader :cache

      # Opens the cache file, creating it and its directories where missing.
      #
      # @param path [String, Pathname, nil] the file; nil is storage/larder/cache.larder
      # @param options [Hash, nil] see the tables above; may also be given as keywords
      # @raise [ArgumentError] an option is of the wrong type or out of range
      # @raise [Larder::OpenError] the file cannot be used: the message says what to change
      # @example
      #   ActiveSupport::Cache::LarderStore.new("tmp/app.larder", size: 64 << 20, expires_in: 3600)
      def initialize(path = nil, options = nil, **keywords)
        settings = Larder::Store::Settings.new(path, options, keywords)
        super(settings.store_options)

        @error_handler = settings.error_handler
        @raise_errors = settings.raise_errors
        @max_key_size = settings.max_key_size
        @cache = settings.open
      end

      # Yields. Rails wraps requests in this for stores that profit from a copy in memory; a hit here is cheaper than
      # keeping one, so there is none.
      #
      # @return [Object] what the block returns
      def with_local_cache
        yield
      end
    end
  end
end
