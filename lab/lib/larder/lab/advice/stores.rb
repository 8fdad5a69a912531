# frozen_string_literal: true

require "larder/cli/registry"
require_relative "../contenders"

module Larder
  module Lab
    # Which store, serializer and compressor suit a value and a network: computed from the samples of a run.
    # @api private
    module Advice
      # The stores that advice chooses from, by the names users type, and facts about each that are not measured here.
      # `features` tests most of them.
      module Stores
        extend CLI::Registry
        holds "store"

        # Facts about a store. `seen_by` says who shares its entries, one of {Question::WHO}; `room` where they lie
        # (:memory, :disk, nil: in a database of its own); `survives` the worst that they survive, one of
        # {Question::EVENTS}. The rest is for `config.cache_store`: its first arguments, the option for its room, other
        # options, gems, and the variable with the address of its server if that can be a backplane.
        Facts = Struct.new(:seen_by, :room, :survives, :arguments, :sized, :options, :gems, :messages,
                           keyword_init: true) do
          def initialize(options: {}, gems: [], **others) = super

          # @return [Boolean] whether it is asked over a network
          def remote? = seen_by == "hosts"
        end

        redis = Facts.new(seen_by: "hosts", room: :memory, survives: "restart", arguments: [":redis_cache_store"],
                          options: { "url" => 'ENV.fetch("REDIS_URL")' }, gems: ["redis"], messages: "REDIS_URL")
        solid = { survives: "crash", arguments: [":solid_cache_store"], sized: "max_size" }
        ALL = {
          "larder" => Facts.new(seen_by: "processes", room: :disk, survives: "restart", arguments: [":larder_store"],
                                sized: "size", gems: ["larder"]),
          "memory" => Facts.new(seen_by: "nobody", room: :memory, survives: "nothing", arguments: [":memory_store"],
                                sized: "size"),
          "file" => Facts.new(seen_by: "processes", room: :disk, survives: "crash",
                              arguments: [":file_store", '"tmp/cache"']),
          "solid_cache" => Facts.new(seen_by: "processes", room: :disk, gems: %w[solid_cache sqlite3], **solid),
          "redis" => redis,
          "valkey" => redis,
          "memcached" => Facts.new(seen_by: "hosts", room: :memory, survives: "restart", gems: ["dalli"],
                                   arguments: [":mem_cache_store", 'ENV.fetch("MEMCACHE_SERVERS")']),
          "solid_cache-postgresql" => Facts.new(seen_by: "hosts", gems: %w[solid_cache pg], messages: "DATABASE_URL",
                                                **solid)
        }.freeze
        ALL.each_key { |name| register(name, Contenders.fetch(name)) }
      end
    end
  end
end
