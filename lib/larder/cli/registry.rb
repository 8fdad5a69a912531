# frozen_string_literal: true

# Owns the look-up of commands by the names that users type.

require_relative "errors"

module Larder
  module CLI
    # Extended by what holds commands, in the order in which they were registered.
    module Registry
      # @param name [String] what users type
      # @param entry [Class]
      # @return [Class] the entry
      def register(name, entry)
        entries[name] = entry
      end

      # @param name [String]
      # @return [Class]
      # @raise [UsageError] naming the known names
      def fetch(name)
        entries.fetch(name) { raise UsageError, "unknown command #{name}; known: #{names.join(", ")}" }
      end

      # @return [Array<String>] in order of registration
      def names
        entries.keys
      end

      private

      def entries
        @entries ||= {}
      end
    end
  end
end
