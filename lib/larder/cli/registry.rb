# frozen_string_literal: true

# Finds things by the names that users type: commands, and the stores, servers and report formats of the lab.

require_relative "errors"

module Larder
  module CLI
    # Extended by a module that holds named entries, in the order of their registration.
    #
    # @example
    #   module Contenders
    #     extend CLI::Registry
    #     holds "contender"
    #   end
    #   Contenders.register("redis", RedisStore)
    #   Contenders.fetch("redis")   # => RedisStore
    module Registry
      # Stands for every name.
      ALL = "all"

      # What one entry is called in messages.
      # @param kind [String]
      # @return [void]
      def holds(kind)
        @kind = kind
      end

      # @param name [String] what users type
      # @param entry [Object] anything but nil
      # @return [Object] the entry
      # @raise [ArgumentError] if the name is taken by another entry
      def register(name, entry)
        taken = entries[name]
        raise ArgumentError, "#{@kind} #{name} is already registered as #{taken}" if taken && !taken.equal?(entry)

        entries[name] = entry
      end

      # @param name [String]
      # @return [Object] the entry
      # @raise [UsageError] naming the known names
      def fetch(name)
        entries.fetch(name) { raise UsageError, "unknown #{@kind} #{name}; known: #{names.join(", ")}" }
      end

      # @return [Array<String>] in order of registration
      def names
        entries.keys
      end

      # @return [Array<String>] those that are used unless names are given
      def usual
        names.reject { |name| entries[name].respond_to?(:on_request?) && entries[name].on_request? }
      end

      # @param chosen [Array<String>] what the user typed; "all" stands for every name
      # @return [Array<String>] names, without repetitions
      # @raise [UsageError] at the first unknown one
      def check(chosen)
        chosen.flat_map { |name| name == ALL ? names : [name] }.each { |name| fetch(name) }.uniq
      end

      private

      def entries
        @entries ||= {}
      end
    end
  end
end
