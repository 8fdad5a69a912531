# frozen_string_literal: true

# The Rails store: its options and its construction. What it does is in lib/larder/store.rb.

require "active_support"
require "active_support/cache"
require "larder"
require "larder/parallel_tests"
require "larder/store"

module ActiveSupport
  module Cache
    # A cache shared by all processes of a machine, kept in one memory-mapped file: no server, no lock on reads, and
    # its content outlives restarts and killed processes.
    #
    #   config.cache_store = :larder_store
    #   config.cache_store = :larder_store, "/data/shop.larder", { size: 1.gigabyte, expires_in: 1.day }
    #
    # In plain Ruby:
    #
    #   require "active_support/cache/larder_store"
    #   cache = ActiveSupport::Cache::LarderStore.new("tmp/app.larder", size: 64 << 20)
    #   cache.fetch("report", expires_in: 60) { build_report }
    #
    # ## Options
    #
    # Of the store, of a call, or of both, where the call's wins.
    #
    # | Option                | Takes; default            | Of    | Meaning                                            |
    # |-----------------------|---------------------------|-------|----------------------------------------------------|
    # | (first argument)      | String, Pathname          | store | The file, see below.                               |
    # | `:size`, `:max_size`  | Integer, "1GB"; 256 MiB   | store | Bytes of the file, decided when it is made.        |
    # | `:lock_timeout`       | Numeric; 0.2              | store | Seconds that a write waits for another.            |
    # | `:error_handler`      | callable; log and report  | store | Gets `method:, returning:, exception:`.            |
    # | `:raise_errors`       | Boolean; false            | store | Raise failures at each use instead.                |
    # | `:max_key_size`       | Integer, false; see below | store | Bytes; longer keys end in a digest.                |
    # | `:serializer`         | Symbol, `dump`/`load`     | store | Turns values into bytes; Larder's own by default.  |
    # | `:compressor`         | Symbol, `deflate`/…; gzip | store | Makes bytes smaller.                               |
    # | `:coder`              | `dump`/`load`             | store | Turns entries into bytes, in place of those two.   |
    # | `:expires_in`         | Numeric, Duration; nil    | both  | Life of an entry in seconds; nil is for ever.      |
    # | `:race_condition_ttl` | Numeric; nil              | both  | `fetch`: one renews, others get the expired value. |
    # | `:namespace`          | String, callable; nil     | both  | Put before every key, asked for at each call.      |
    # | `:compress`           | Boolean; false            | both  | Compress what becomes smaller by it.               |
    # | `:compress_threshold` | Integer; 1 KiB            | both  | Bytes; a store's turns `:compress` on.             |
    # | `:raw`                | Boolean; false            | both  | Changes nothing, as in Rails' file store.          |
    # | `:skip_nil`           | Boolean; false            | both  | `fetch`, `fetch_multi`: do not store nil.          |
    # | `:force`              | Boolean; false            | both  | `fetch`, `fetch_multi`: a miss whatever is stored. |
    # | `:expires_at`         | Time                      | call  | In place of `:expires_in`.                         |
    # | `:version`            | `to_param`                | call  | An entry of another version is a miss.             |
    # | `:unless_exist`       | Boolean; false            | call  | `write`: only where nothing live is stored.        |
    #
    # Without a path the file is where the variable LARDER_PATH says, otherwise storage/larder/ENVIRONMENT/cache.larder,
    # where ENVIRONMENT is Rails.env, without Rails RAILS_ENV, RACK_ENV or "development". A storage/larder/cache.larder
    # that is there is used where that is not, and a line says so. A relative path is taken from Rails.root, without
    # Rails from the current directory. Without a size it is what LARDER_SIZE says, as "512MB"; a size of the file
    # differing from the configured one is warned about, and not changed. What the configuration says comes before what
    # the variables say, and a variable that is blank says nothing.
    #
    # Where Rails runs tests in parallel processes, each worker uses its own file, cache.larder.worker-0,
    # which is removed when it ends. So do stores that it makes without a path; a path that it names is taken as it is.
    #
    # `:expires_in` has the aliases `:expire_in` and `:expired_in`. `:max_key_size` is 250
    # on Rails 8.1 and later, as in all its stores, and 4096 before; false and anything above 4096 mean 4096, the
    # longest key of the file.
    #
    # ## When the cache cannot serve
    #
    # A read is a miss, a write, increment or clear answers nil, and a delete answers false. A value larger than the
    # file can hold is reported too and its write answers false. In no case does an old value stay.
    #
    # The file is opened or made at the first use, not by the constructor. While that fails, it is tried again every
    # second. It goes to `:error_handler` once, with a message that names the owner, the user and the command that fixes
    # it. Each delete, overwrite or clear that could not be applied goes there every time. This process remembers them,
    # 1,024 keys and beyond that all, and applies them when it opens the file, before it reads there.
    #
    # With `:raise_errors` each use raises instead, a file that cannot be opened as Larder::OpenError. Wrong arguments
    # raise ArgumentError in the constructor.
    class LarderStore < Store
      include Larder::Store

      # @return [true] Rails may give versions beside keys ("recyclable" cache keys)
      def self.supports_cache_versioning?
        true
      end

      # @return [Larder::Cache] the cache of bytes underneath
      attr_reader :cache

      # Checks its arguments. The first call that needs the file opens it, or makes it with its directories.
      #
      # @param path [String, Pathname, nil] the file; nil is LARDER_PATH's or the environment's, see above
      # @param options [Hash, nil] see the tables above; may also be given as keywords
      # @raise [ArgumentError] an option is of the wrong type or out of range
      # @example
      #   ActiveSupport::Cache::LarderStore.new("tmp/app.larder", size: 64 << 20, expires_in: 3600)
      def initialize(path = nil, options = nil, **keywords)
        settings = Larder::Store::Settings.new(path, options, keywords)
        default_serializer # raises for an unknown ActiveSupport::Cache.format_version, as Rails does without a coder
        super(settings.store_options)

        @error_handler = settings.error_handler
        @raise_errors = settings.raise_errors
        @max_key_size = settings.max_key_size
        @plain_values = settings.plain_values
        @plain_trees = settings.plain_trees
        @settings = settings
        @options.default = nil # it would add options that were not given
        use(settings.open)
      end

      # Yields. Rails wraps requests in this for stores that gain from a copy in memory. A hit here costs less than that
      # copy, so there is none.
      #
      # @return [Object] what the block returns
      def with_local_cache
        yield
      end

      # Goes on with another file, see Larder::ParallelTests.
      #
      # @api private
      # @yieldparam path [String] of the file
      # @yieldreturn [String] of the other
      def work_apart
        use(@settings.open(yield(@cache.path)))
      end

      private

      def use(cache)
        @cache = cache
        @records = Larder::Store::Records.new(cache)
        Larder::Store::FastPath.attach(self, cache, @options, @max_key_size, @plain_values, @plain_trees)
      end
    end
  end
end

Larder::Store::FastPath.install(ActiveSupport::Cache::LarderStore)
Larder::ParallelTests.cover(ActiveSupport::Cache::LarderStore)
