# frozen_string_literal: true

# The Rails store: its options and its construction. What it does is in lib/larder/store.rb.

require "active_support"
require "active_support/cache"
require "larder"
require "larder/store/parallel_tests"
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
    # docs/reference/options.md lists the options of the store and of its calls, with their values and defaults. The
    # option of a call has precedence over that of the store.
    #
    # Without a path the file is the one that LARDER_PATH names, otherwise storage/larder/ENVIRONMENT/cache.larder.
    #
    # ## When the cache cannot serve
    #
    # A read is a miss, a write, increment or clear answers nil, and a delete answers false. A value larger than the
    # file can hold is reported too and its write answers false. In no case does an old value stay.
    #
    # The first use opens or creates the file, not the constructor. While that fails, it is tried again every second.
    # `:error_handler` is called once for it, with a message that names the owner, the user and the command that fixes
    # it, and for each delete, overwrite or clear that could not be applied. This process remembers these, 1,024 keys
    # and beyond that all, and applies them when it opens the file, before it reads there, at the latest when it ends.
    # The default handler reports each cause once a minute, to the log and to ActiveSupport.error_reporter.
    #
    # With `:raise_errors` each use raises instead, a file that cannot be opened as Larder::OpenError. Wrong arguments
    # raise ArgumentError in the constructor.
    class LarderStore < Store
      include Larder::MonotonicClock
      include Larder::Store::Instrumentation
      include Larder::Store::Options
      include Larder::Store::Keys
      include Larder::Store::Entries
      include Larder::Store::Multi
      include Larder::Store::Counters
      include Larder::Store::CompareAndSwap
      include Larder::Store::Deletion
      include Larder::Store::Maintenance
      include Larder::Store::NativeCalls
      include Larder::Store::FastPath

      # @return [true] Rails may give versions beside keys ("recyclable" cache keys)
      def self.supports_cache_versioning?
        true
      end

      # @return [Larder::Cache] the cache of bytes underneath
      attr_reader :cache

      # @api private
      # @return [Larder::Remote::Client, nil] the second level
      attr_reader :remote
      # @api private
      # @return [Larder::Store::LocalLevel, Larder::Store::TwoLevels] which answers calls
      attr_reader :level
      # @api private
      # @return [Larder::Store::SingleFlight]
      attr_reader :single_flight

      # Checks its arguments. The first call that needs the file opens it, or makes it with its directories.
      #
      # @param path [String, Pathname, nil] the file; nil is LARDER_PATH's or the environment's, see above
      # @param options [Hash, nil] see docs/reference/options.md; may also be given as keywords
      # @raise [ArgumentError] an option is of the wrong type or out of range
      # @example
      #   ActiveSupport::Cache::LarderStore.new("tmp/app.larder", size: 64 << 20, expires_in: 3600)
      def initialize(path = nil, options = nil, **keywords)
        settings = Larder::Store::Settings.new(path, options, keywords)
        default_serializer # raises for an unknown ActiveSupport::Cache.format_version, as Rails does without a coder
        super(settings.store_options)

        @settings = settings
        @max_key_size = settings.max_key_size
        @remote = settings.remote
        @backplane = settings.backplane
        @remote&.outbox&.when_applied { |kind, texts| @machines.publish_applied(kind, texts) }
        @remote&.outbox&.when_absent { |error| @failsafe.handler_raises?(:journal, nil, error) }
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

      # Goes on with another open cache of bytes, see Larder::TestHelper. Calls that run in other threads may
      # end with the former one.
      #
      # @api private
      # @yieldparam settings [Larder::Store::Settings]
      # @yieldreturn [Larder::Cache]
      # @return [Larder::Cache] the former one, still open
      def exchange
        @cache.tap { use(yield(@settings)) }
      end

      # @api private
      # @return [LarderStore] with the same entries, which raises errors instead of answering misses
      def raising
        clone.tap(&:raise_errors)
      end

      protected

      def raise_errors
        @raising = true
        use(@cache)
      end

      private

      def use(cache)
        @cache = cache
        handler, raises = @raising ? [nil, true] : [@settings.error_handler, @settings.raise_errors]
        @failsafe = Larder::Store::Failsafe.new(handler, raises) { cache.count_failure }
        local = local_level(cache)
        @level = @remote ? two_levels(local) : local
        @single_flight = Larder::Store::SingleFlight.new(@level, self)
        Larder::Store::FastPath.attach(self, cache, @options, @max_key_size, @settings.plain_values,
                                       @settings.plain_trees, @level.slow?, !@backplane.nil?)
      end

      def local_level(cache)
        records = Larder::Store::Records.new(cache)
        format = Larder::Store::RecordFormat.new(self, records, @coder, plain_values: @settings.plain_values,
                                                                        plain_trees: @settings.plain_trees)
        Larder::Store::LocalLevel.new(cache, records, format, @failsafe)
      end

      def two_levels(local)
        @machines = Larder::Store::TwoLevels::Machines.new(@backplane, local.cache, @failsafe) do |listens|
          Larder::Store::FastPath.listens(self, listens)
        end
        Larder::Store::TwoLevels.new(local, @remote, @machines, @settings.local_expires_in) { |key| truncate_key(key) }
      end
    end
  end
end

Larder::Store::FastPath.install(ActiveSupport::Cache::LarderStore)
Larder::ParallelTests.cover(ActiveSupport::Cache::LarderStore)
