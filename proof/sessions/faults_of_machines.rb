# frozen_string_literal: true

# Breaks sessions over `cache:` on purpose, in ways that one machine alone does not show. Each bug has to be found.

require_relative "named_faults"
require_relative "subject"
require "active_support"
require "active_support/cache/larder_store"
require "larder/sessions/backends/shared"
require "larder/remote"

module SessionProof
  # Bugs by name, as {FaultInjection} has those of one machine.
  module FaultsOfMachines
    extend NamedFaults

    Backends = Larder::Sessions::Backends
    private_constant :Backends

    # An end that waited for the store does not follow a renewal on another machine.
    module EndDoesNotFollow
      def follow(_texts); end
    end

    # A change does not compare, so a slower request brings a session back that another machine has ended.
    module SwapIsBlind
      def swap(key, _expected, bytes, ttl, **)
        @store.write(name(key), bytes, expires_in: ttl)
        :stored
      end
    end

    # An end that has not reached the store is forgotten.
    module EndIsForgotten
      def note(kind, *)
        super unless kind == :delete
      end
    end

    ALL = {
      "end-does-not-follow" => [Backends::Shared, EndDoesNotFollow],
      "swap-is-blind" => [Backends::Shared, SwapIsBlind],
      "end-is-forgotten" => [Larder::Remote::Outbox::Journal, EndIsForgotten]
    }.freeze
    private_constant :ALL
  end
end
