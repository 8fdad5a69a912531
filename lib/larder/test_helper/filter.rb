# frozen_string_literal: true

# Chooses the reads that `key:` of an assertion counts.

module Larder
  module TestHelper
    # Has a name, a Regexp or a Proc.
    # @api private
    class Filter
      # @param wanted [Object, Regexp, Proc, nil] as `key:`; nil: all
      # @param subject [Subject]
      # @raise [ArgumentError] it is none of these
      def initialize(wanted, subject)
        @wanted = wanted
        @subject = subject
        case wanted
        when Regexp then refuse("its encoding is not that of keys") unless of_keys?(wanted)
        else name unless wanted.nil? || predicate?
        end
      end

      # @param reads [Reads]
      # @return [Reads] those it chooses; the others are their `left_out`
      def apply(reads)
        return reads if @wanted.nil?

        chosen, left_out = reads.all.partition { |read| choose?(read) }
        Reads.new(chosen, left_out)
      end

      # @return [String] for messages
      def to_s
        "key: #{@wanted.inspect}"
      end

      private

      def choose?(read)
        case @wanted
        when Regexp then @wanted.match?(comparable(read.key))
        when Proc, Method then @wanted.call(read.key)
        else [{}, { namespace: read.namespace }].any? { |options| @subject.key(@wanted, options).b == read.key.b }
        end
      end

      # A Regexp raises for an invalid character. One of bytes (/…/n) gets the bytes.
      def comparable(key)
        bytes?(@wanted) ? key.b : key.dup.force_encoding(Encoding::UTF_8).scrub
      end

      def bytes?(regexp)
        regexp.options.anybits?(Regexp::NOENCODING)
      end

      def of_keys?(regexp)
        bytes?(regexp) || [Encoding::UTF_8, Encoding::US_ASCII].include?(regexp.encoding)
      end

      def predicate?
        [Proc, Method].any? { |kind| @wanted.is_a?(kind) }
      end

      # An object that has neither a key nor a text of its own, as a matcher of RSpec, would be a new name each time.
      def name
        nameless = !@wanted.respond_to?(:cache_key) && %i[to_param to_s].all? do |name|
          [Kernel, Object].include?(@wanted.method(name).owner)
        end
        refuse("it has no name") if nameless
        @subject.key(@wanted)
      end

      def refuse(reason)
        raise ArgumentError, "key: is #{@wanted.inspect}, and #{reason}; it takes a name as of Rails.cache.read, a " \
                             "Regexp of UTF-8 or of bytes (/…/n), or a Proc that gets a key"
      end
    end
  end
end
