# frozen_string_literal: true

# Compares counts with what a test expects, and writes the messages of failed assertions.

module Larder
  module TestHelper
    # Pure functions.
    # @api private
    module Report
      # The most reads, or keys, that a message lists.
      MOST = 20
      private_constant :MOST

      module_function

      # @param count [Integer, Range, nil]
      # @return [Integer, Range] that many; nil becomes at least one
      # @raise [ArgumentError]
      def expected(count)
        return (1..) if count.nil?
        return count if count.is_a?(Range) ? numbers?(count) : number?(count)

        raise ArgumentError, "a number of cache reads is 0 or more, a Range such as 1..3, or nil for at least one; " \
                             "got #{count.inspect}"
      end

      # True if it has some number of reads, and not every one.
      def numbers?(range)
        ends = [range.begin, range.end].compact
        ends.any? && ends.all? { |one| number?(one) } && (ends.one? || range.minmax.none?(&:nil?))
      end

      def number?(count)
        count.is_a?(Integer) && !count.negative?
      end

      # @return [Boolean]
      def met?(expected, count)
        expected.is_a?(Range) ? expected.cover?(count) : expected == count
      end

      # @param kind [Symbol] :hits or :misses
      # @param reads [Reads]
      # @param filter [Filter] that has chosen them
      # @param negated [Boolean] true: the count was not to be met
      # @return [String]
      def counted(kind, expected, reads, filter, negated: false)
        found, others = reads.public_send(kind), (%i[hits misses] - [kind]).first
        rest = reads.public_send(others)
        first = "expected #{wanted(expected, kind, negated)}, got #{number(found.size, kind)}"
        [first + (found.empty? ? "" : ":"), *listed(found), *("#{number(rest.size, others)}:" if rest.any?),
         *listed(rest), *left_out(reads.left_out, filter),
         *(nothing_read if reads.all.empty? && reads.left_out.empty?)].join("\n")
      end

      # @param subject [Subject]
      # @return [String]
      def not_cached(subject, name, options)
        key = subject.key(name, options)
        return "#{key.inspect} is cached, but in another version" if subject.cached_in_a_version?(name, options)

        keys = Array(subject.store.keys(namespace: nil)).sort
        return "#{key.inspect} is not cached, and the cache is empty" if keys.empty?

        more = "\n  and #{keys.size - MOST} more" if keys.size > MOST
        "#{key.inspect} is not cached; these are:#{keys.first(MOST).map { |one| "\n  #{one.inspect}" }.join}#{more}"
      end

      # @param count [Integer, Range]
      # @return [String]
      def number(count, kind)
        one = kind == :hits ? "hit" : "miss"
        return "at least #{number(count.begin, kind)}" if count.is_a?(Range) && count.end.nil?

        { 0 => "no #{kind}", 1 => "1 #{one}" }.fetch(count) { "#{count} #{kind}" }
      end

      def wanted(expected, kind, negated)
        return number(expected, kind) unless negated

        expected == (1..) ? "no #{kind}" : "a number of #{kind} other than #{expected}"
      end

      def left_out(reads, filter)
        return [] if reads.empty?

        hits, misses = reads.partition(&:hit)
        counts = { misses: misses, hits: hits }.reject { |_, some| some.empty? }
        ["not counted because of #{filter}: #{counts.map { |kind, some| number(some.size, kind) }.join(" and ")}:",
         *listed(misses + hits)]
      end

      def listed(reads)
        lines = reads.first(MOST).map do |read|
          "  #{read.key.inspect} by #{[read.operation, read.line].compact.join(", ")}"
        end
        reads.size > MOST ? [*lines, "  and #{reads.size - MOST} more"] : lines
      end

      # A page without caching is the usual reason.
      def nothing_read
        return "nothing was read from the cache" unless defined?(ActionController::Base) &&
                                                        !ActionController::Base.perform_caching

        "nothing was read from the cache; for fragments of views set config.action_controller.perform_caching = " \
          "true in config/environments/#{Application.environment}.rb"
      end
      private_class_method :numbers?, :number?, :wanted, :left_out, :listed, :nothing_read
    end
  end
end
