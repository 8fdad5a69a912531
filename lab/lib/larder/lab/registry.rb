# frozen_string_literal: true

# Owns the look-up by name of things that come as one small file each: contenders, workloads, servers, report formats,
# commands. A module extends Registry, says what it holds, and each file registers its class.

require_relative "errors"

module Larder
  module Lab
    # Extended by a module that holds named things, in the order in which they were registered.
    #
    # @example
    #   module Contenders
    #     extend Registry
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

      # @return [Array<String>] those that take part without being asked for by name
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
