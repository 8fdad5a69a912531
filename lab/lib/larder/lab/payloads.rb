# frozen_string_literal: true

# The list of payloads that codecs are tried on. Each is made from a seed, in a worker process or before workers are
# forked, so that all rows get the same.

require "json"
require "larder/cli/registry"
require_relative "errors"

module Larder
  module Lab
    # What is serialized and compressed.
    # @api private
    module Payloads
      extend CLI::Registry
      holds "payload"

      # A value, and its bytes for compressors: Marshal's, unless it is text.
      class Payload
        attr_reader :value

        def initialize(value, bytes = nil)
          @value = value
          @bytes = bytes
        end

        def bytes = @bytes ||= Marshal.dump(value).freeze

        # True if a copy that a codec brought back is as good as the original.
        def same?(copy) = copy == value
      end

      # The payload of that name, the same for all blocks of a process; "given" is made of a source, see {Given}. Raises
      # Unavailable if it cannot be made.
      def self.of(name, source = nil)
        @made ||= {}
        @made[name] ||= fetch(name).then { |maker| maker.arity.zero? ? maker.call : maker.call(source) }
      rescue Unavailable
        raise
      rescue StandardError, ScriptError, SystemStackError => error # the user's own words need not be Ruby
        raise Unavailable, "the payload cannot be made: #{error.class}: #{error.message.lines.first.to_s.strip}"
      end
    end
  end
end

require_relative "payloads/values"
require_relative "payloads/given"
