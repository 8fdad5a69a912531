# frozen_string_literal: true

# Assertions about Rails.cache for tests of applications, and an empty cache in memory for each test. Loaded by tests
# only. test_helper/reads.rb counts, test_helper/memory.rb has the files.

require "active_support/cache/larder_store"
require_relative "test_helper/emptying"
require_relative "test_helper/filter"
require_relative "test_helper/matchers"
require_relative "test_helper/reads"
require_relative "test_helper/report"
require_relative "test_helper/subject"

module Larder
  # Assertions for Minitest and RSpec. Each test of a class that includes it begins with an empty cache, in a file of
  # this process that is in memory and goes away with the process. The application keeps its `Rails.cache` object.
  #
  #   # test/test_helper.rb
  #   require "larder/test_helper"
  #
  #   class ActiveSupport::TestCase
  #     include Larder::TestHelper
  #   end
  #
  #   # spec/rails_helper.rb
  #   require "larder/test_helper"
  #
  #   RSpec.configure { |config| config.include Larder::TestHelper }
  #
  # The cache is `Rails.cache`, which must be a Larder store: `config.cache_store = :larder_store` in
  # config/environments/test.rb. `cache:` names another one. RSpec has matchers, too: see {Matchers}.
  #
  # Reads are counted by the events of the store, in all threads of the process: a `fetch`, `read`, `fetch_multi` or
  # `read_multi` counts each of its keys once, as a hit or a miss. `exist?` and `fetch` with `force: true` read nothing.
  module TestHelper
    # A failed assertion where there is neither Minitest nor RSpec.
    class Failed < StandardError; end

    # @api private
    def self.included(base)
      super
      return unless defined?(RSpec::Core::ExampleGroup) && base.is_a?(Class) && base <= RSpec::Core::ExampleGroup

      base.include(Matchers) if defined?(RSpec::Matchers::Composable)
      base.around do |example|
        Emptying.begin_test
        example.run
      end
    end

    # Minitest calls it before each test.
    #
    # @api private
    def before_setup
      Emptying.begin_test
      super if defined?(super)
    end

    # @param name [Object] as of `Rails.cache.read`
    # @param cache [ActiveSupport::Cache::LarderStore, nil] nil: Rails.cache
    # @param options [Hash] of `exist?`: `:namespace`, `:version`
    # @return [void]
    # @raise [ArgumentError] the cache is another store
    # @example
    #   assert_cached "report"
    def assert_cached(name, cache: nil, **options)
      subject = Subject.new(cache)
      cache_verdict(subject.cached?(name, options)) { Report.not_cached(subject, name, options) }
    end

    # @param (see #assert_cached)
    # @return [void]
    # @raise (see #assert_cached)
    # @example
    #   assert_not_cached "report"
    def assert_not_cached(name, cache: nil, **options)
      subject = Subject.new(cache)
      cache_verdict(!subject.cached?(name, options)) { "#{subject.key(name, options).inspect} is cached" }
    end
    alias refute_cached assert_not_cached

    # Counts misses of the block, each key of each call once.
    #
    # @param count [Integer, Range, nil] nil: at least one
    # @param key [Regexp, Proc, Object, nil] counts only keys that match, that it accepts, or of this name; nil:
    #   all
    # @param cache [ActiveSupport::Cache::LarderStore, nil] nil: Rails.cache
    # @return [Object] what the block returns
    # @raise [ArgumentError] the cache is another store, the count or the key is of another kind, or there is no block
    # @example
    #   assert_cache_misses(2) { get products_path }
    #   assert_cache_misses(1, key: %r{\Aviews/}) { get products_path }
    def assert_cache_misses(count = nil, key: nil, cache: nil, &block)
      assert_cache_reads(:misses, Report.expected(count), key, cache, &block)
    end

    # @param (see #assert_cache_misses)
    # @return (see #assert_cache_misses)
    # @raise (see #assert_cache_misses)
    # @example
    #   assert_cache_hits(1, key: "report") { get report_path }
    def assert_cache_hits(count = nil, key: nil, cache: nil, &block)
      assert_cache_reads(:hits, Report.expected(count), key, cache, &block)
    end

    # @param key [Regexp, Proc, Object, nil] see {#assert_cache_misses}
    # @param cache [ActiveSupport::Cache::LarderStore, nil] nil: Rails.cache
    # @return (see #assert_cache_misses)
    # @raise (see #assert_cache_misses)
    # @example
    #   get products_path
    #   assert_no_cache_misses { get products_path }
    def assert_no_cache_misses(key: nil, cache: nil, &block)
      assert_cache_reads(:misses, 0, key, cache, &block)
    end

    # Counts reads for assertions of your own.
    #
    # @param cache [ActiveSupport::Cache::LarderStore, nil] nil: Rails.cache
    # @yield the code that reads
    # @return [Reads] with `hits` and `misses`, each with `key`, `operation` and `line`
    # @raise (see #assert_cache_misses)
    # @example
    #   capture_cache_reads { Rails.cache.fetch("report") { 1 } }.misses.map(&:key) #=> ["report"]
    def capture_cache_reads(cache: nil, &block)
      raise ArgumentError, "capture_cache_reads needs a block with the code that reads" unless block

      Reads.of(Subject.new(cache).store, &block).first
    end

    # Runs the block with an empty cache in memory, for all threads of the process. Afterwards the cache has what it had
    # before.
    #
    # @param cache [ActiveSupport::Cache::LarderStore, nil] nil: Rails.cache
    # @return [Object] what the block returns
    # @raise [ArgumentError] the cache is another store, or has a store behind it, which this cannot empty
    # @example
    #   with_empty_cache { assert_cache_misses(1) { Product.cached_prices } }
    def with_empty_cache(cache: nil, &block)
      raise ArgumentError, "with_empty_cache needs a block, which runs with an empty cache" unless block

      Emptying.with_empty(Subject.new(cache).alone, &block)
    end

    private

    def assert_cache_reads(kind, expected, key, cache, &block)
      raise ArgumentError, "an assertion about cache #{kind} needs a block with the code that reads" unless block

      subject = Subject.new(cache)
      filter = Filter.new(key, subject)
      reads, value = Reads.of(subject.store, &block)
      reads = filter.apply(reads)
      good = Report.met?(expected, reads.public_send(kind).size)
      cache_verdict(good) { Report.counted(kind, expected, reads, filter) }
      value
    end

    # In Minitest, it counts as an assertion.
    def cache_verdict(good, &message)
      return assert(good, message) if respond_to?(:assert)
      return if good

      defined?(RSpec::Expectations) ? RSpec::Expectations.fail_with(message.call) : raise(Failed, message.call)
    end
  end
end
