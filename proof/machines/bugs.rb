# frozen_string_literal: true

# Breaks a store on purpose, by its public methods, in the processes of a run that names a bug. Each has to be found, or
# the proof proves nothing.

require_relative "setting"

module MachineProof
  # Bugs by name. Each is a module that overrides public methods of one store.
  module Bugs
    # The bug shows in one call out of this number.
    SELDOM = 12

    # The modules' common part: they remember values, and choose calls at random.
    module Lying
      # @return [Random]
      attr_writer :random

      private

      def seldom?(calls = SELDOM)
        @random.rand(calls).zero?
      end

      def remembered
        @remembered ||= {}
      end
    end

    # A copy is used far longer than local_expires_in:.
    module KeepsCopies
      include Lying

      def read(name, *)
        seldom? && remembered.key?(name) ? remembered[name] : super.tap { |value| remembered[name] ||= value if value }
      end

      def delete(name, *)
        remembered.delete(name)
        super
      end

      def write(name, *)
        remembered.delete(name)
        super
      end
    end

    # A delete answers and deletes nothing.
    module KeepsDeleted
      include Lying

      def delete(*)
        seldom?(2) || super
      end
    end

    # A delete is applied later.
    module DeletesLater
      include Lying

      def delete(name, *)
        remembered[name] = true
        true
      end

      def read(name, *)
        value = super
        delete_multi([name]) if remembered.delete(name)
        value
      end
    end

    # A read answers another key's value.
    module MixesKeys
      include Lying

      def read(name, *rest)
        value = super
        return value unless seldom?

        other = remembered[:other]
        remembered[:other] = name
        (other && super(other, *rest)) || value
      end
    end

    # A read answers a value of another namespace.
    module MixesNamespaces
      include Lying

      def read(*)
        value = super
        value.is_a?(String) ? value.sub("/app|", "/app2|") : value
      end
    end

    # A call takes too long.
    module Hangs
      include Lying

      def write(*)
        sleep(30) if @hung != true && (@hung = seldom?(4))
        super
      end
    end

    # An error reaches the caller.
    module Raises
      include Lying

      def delete(*)
        raise IOError, "closed stream" if seldom?

        super
      end
    end

    # The journal lists a change for ever.
    module StaysWaiting
      include Lying

      def stats
        stats = super
        stats[:remote] ? stats.merge(remote: { **stats[:remote], waiting: true, listed: 1 }) : stats
      end
    end

    # One process reads nothing of a key.
    module Disagrees
      include Lying

      def read(name, *)
        name == Setting::NAMES.first ? nil : super
      end
    end

    # A process ends by itself.
    module Exits
      include Lying

      def write(*)
        seldom? ? exit!(3) : super
      end
    end

    # With the rule that it breaks.
    ALL = { "keeps-copies" => [KeepsCopies, "age"], "keeps-deleted" => [KeepsDeleted, "own"],
            "deletes-later" => [DeletesLater, "own"], "mixes-keys" => [MixesKeys, "foreign"],
            "mixes-namespaces" => [MixesNamespaces, "foreign"], "hangs" => [Hangs, "deadline"],
            "raises" => [Raises, "raises"], "stays-waiting" => [StaysWaiting, "recovery"],
            "disagrees" => [Disagrees, "recovery"], "exits" => [Exits, "ends"] }.freeze
    private_constant :ALL

    module_function

    # @return [Array<String>]
    def names
      ALL.keys
    end

    # @param name [String]
    # @return [String] the rule that has to find it
    def rule(name)
      ALL.fetch(name).last
    end

    # @param name [String]
    # @param store [ActiveSupport::Cache::Store]
    # @param random [Random]
    # @return [void]
    def apply(name, store, random)
      store.extend(ALL.fetch(name) { raise ArgumentError, "unknown bug #{name}; known: #{names.join(", ")}" }.first)
      store.random = random
    end
  end
end
