# frozen_string_literal: true

# Matchers for RSpec, which say the same as the assertions. Each has the protocol of RSpec's matchers, so that `not_to`,
# `and`, `or` and aliases work.

require_relative "filter"
require_relative "reads"
require_relative "report"
require_relative "subject"

module Larder
  module TestHelper
    # RSpec's groups that include {TestHelper} have these.
    module Matchers
      # RSpec loads its matchers before it makes the first group.
      #
      # @api private
      def self.included(group)
        super
        [BeCached, ReadCache].each { |matcher| matcher.include(RSpec::Matchers::Composable) }
      end

      # @param cache [ActiveSupport::Cache::LarderStore, nil] nil: Rails.cache
      # @param options [Hash] of `exist?`: `:namespace`, `:version`
      # @return [BeCached]
      # @raise [ArgumentError] when it is used: the cache is another store
      # @example
      #   expect("report").to be_cached
      def be_cached(cache: nil, **options)
        BeCached.new(cache, options)
      end

      # @param count [Integer, Range, nil] nil: at least one
      # @param key [Regexp, Proc, Object, nil] counts only keys that match, that it accepts, or of this name;
      #   nil: all
      # @param cache [ActiveSupport::Cache::LarderStore, nil] nil: Rails.cache
      # @return [ReadCache]
      # @raise [ArgumentError] the count is not a number of reads; when it is used: the cache is another store
      # @example
      #   expect { get products_path }.to miss_cache(2)
      #   expect { get products_path }.not_to miss_cache
      def miss_cache(count = nil, key: nil, cache: nil)
        ReadCache.new(:misses, Report.expected(count), key, cache)
      end

      # @param (see #miss_cache)
      # @return (see #miss_cache)
      # @raise (see #miss_cache)
      # @example
      #   expect { get report_path }.to hit_cache(1, key: "report")
      def hit_cache(count = nil, key: nil, cache: nil)
        ReadCache.new(:hits, Report.expected(count), key, cache)
      end

      # @api private
      class BeCached
        def initialize(cache, options)
          @cache = cache
          @options = options
        end

        # @param name [Object]
        # @return [Boolean]
        def matches?(name)
          @name = name
          @subject = Subject.new(@cache)
          @subject.cached?(name, @options)
        end

        # @return [String]
        def description
          "be cached"
        end

        # @return [String]
        def failure_message
          Report.not_cached(@subject, @name, @options)
        end

        # @return [String]
        def failure_message_when_negated
          "#{@subject.key(@name, @options).inspect} is cached"
        end
      end

      # @api private
      class ReadCache
        def initialize(kind, expected, key, cache)
          @kind = kind
          @expected = expected
          @key = key
          @cache = cache
        end

        # @param block [Proc]
        # @return [Boolean]
        # @raise [ArgumentError] it is a value: `expect(value)`
        def matches?(block)
          raise ArgumentError, "expected a block, as expect { … }; got #{block.inspect}" unless block.is_a?(Proc)

          subject = Subject.new(@cache)
          @filter = Filter.new(@key, subject)
          @reads = @filter.apply(Reads.of(subject.store, &block).first)
          Report.met?(@expected, @reads.public_send(@kind).size)
        end

        # @return [true] the actual value is a block
        def supports_block_expectations?
          true
        end

        # @return [Boolean]
        def supports_value_expectations?
          false
        end

        # @return [String]
        def description
          "have #{Report.number(@expected, @kind)} of the cache"
        end

        # @return [String]
        def failure_message
          Report.counted(@kind, @expected, @reads, @filter)
        end

        # @return [String]
        def failure_message_when_negated
          Report.counted(@kind, @expected, @reads, @filter, negated: true)
        end
      end
    end
  end
end
