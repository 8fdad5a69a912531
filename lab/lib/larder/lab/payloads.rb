# frozen_string_literal: true

# The list of payloads that codecs are tried on. A new one is one file in payloads/ and one line at the end of this
# file. Each is made from a seed, in a worker process or before workers are forked, so that all rows get the same.

require "larder/cli/registry"

module Larder
  module Lab
    # What is serialized and compressed.
    module Payloads
      extend CLI::Registry
      holds "payload"

      # @param name [String]
      # @param source [String, nil] of the payload "given"
      # @return [Payload] the same for all blocks of a process
      # @raise [Unavailable] if it cannot be made
      def self.of(name, source = nil)
        @made ||= {}
        @made[name] ||= fetch(name).new(*source).tap(&:value)
      rescue Unavailable
        raise
      rescue StandardError, ScriptError, SystemStackError => error # the user's own words need not be Ruby
        raise Unavailable, "the payload cannot be made: #{error.class}: #{error.message.lines.first.to_s.strip}"
      end

      # A payload says its key, its title, and makes itself.
      class Payload
        class << self
          # @return [String] what users type
          attr_reader :key
          # @return [String] one line for lists and headings
          attr_reader :title

          # @return [Boolean] whether it takes part only where it is asked for by name
          def on_request?
            @on_request == true
          end

          private

          def named(key, title)
            @key = key
            @title = title
            Payloads.register(key, self)
          end

          def only_on_request
            @on_request = true
          end
        end

        # @param count [Integer, nil] of records, where the payload is a list; nil: as published
        def initialize(count = nil)
          @count = count
        end

        # @return [Object] the value
        def value
          raise NotImplementedError, "#{self.class} makes no value"
        end

        # @return [String] the value as bytes for compressors
        def bytes
          @bytes ||= packed.freeze
        end

        # What a codec brought back is as good as the original.
        #
        # @return [Boolean]
        def same?(copy)
          copy == value
        end

        private

        # Marshal's bytes, unless a payload is text.
        def packed
          Marshal.dump(value)
        end

        def random
          @random ||= Random.new(20_240_613)
        end
      end
    end
  end
end

require_relative "payloads/books"
require_relative "payloads/records"
require_relative "payloads/hash"
require_relative "payloads/text"
require_relative "payloads/strings"
require_relative "payloads/given"
