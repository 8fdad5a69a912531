# frozen_string_literal: true

require "larder/cli/registry"
require_relative "../codecs/lists"
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

      # A store with a serializer and a compressor, see {Suites::Matrix}.
      Choice = Struct.new(:store, :serializer, :compressor) do
        def facts = Stores::ALL.fetch(store)

        # @return [Array<String>] codecs that an application must configure
        def codecs = [serializer, compressor] - %w[default none]

        def to_s = [store, *codecs].join(" + ")
      end

      # The lines that configure a choice in an application.
      class Lines
        # Gems by codec; others need none.
        GEMS = { "message_pack" => "msgpack", "zstd-3" => "zstd-ruby", "snappy" => "snappy" }.freeze
        # Keys, index, and what is being written take room besides the values.
        MARGIN = 1.15

        # @param bytes [Integer] of all cached values
        def initialize(choice, bytes: 0)
          @choice = choice
          @facts = choice.facts
          @megabytes = [(bytes * MARGIN / (1 << 20)).ceil, 16].max
        end

        def store = "config.cache_store = #{arguments("")}\n"

        # The store with Larder in front of it, with a backplane (`messages`) or copies that live for `seconds`.
        def in_front(messages:, seconds:)
          backplane = "ENV.fetch(\"#{@facts.messages || "REDIS_URL"}\")" if messages
          options = { "remote" => "[#{arguments("  ")}]", "backplane" => backplane,
                      "local_expires_in" => format("%g", seconds) }.compact
          "config.cache_store = :larder_store, #{hash(options, "")}\n"
        end

        def gems
          own = "larder" if @choice.codecs.any?
          [own, *@facts.gems, *GEMS.values_at(*@choice.codecs)].compact.uniq
        end

        private

        def arguments(indent)
          sized = { @facts.sized => "#{@megabytes}.megabytes" }.slice(*@facts.sized)
          options = { **@facts.options, **sized, **(@choice.serializer == "default" ? {} : codecs) }
          [*@facts.arguments, *(hash(options, indent) if options.any?)].join(", ")
        end

        def hash(options, indent)
          "{\n#{options.map { |name, source| "#{indent}  #{name}: #{source}" }.join(",\n")}\n#{indent}}"
        end

        # Larder's store takes codecs by name, others of Rails take them as a coder.
        def codecs
          packs = @choice.compressor != "none"
          if @choice.store == "larder"
            packing = packs ? { "compressor" => compressor, "compress" => "true" } : {}
            return { "serializer" => ":#{@choice.serializer}", **packing }
          end

          { "coder" => "Larder::Coder.new(serializer: #{serializer}, compressor: #{packs ? compressor : "nil"})",
            "compress" => packs.to_s }
        end

        # On a server, others could have written what Marshal runs.
        def serializer
          return ":#{@choice.serializer}" unless @choice.serializer == "marshal"

          how = @facts.remote? ? 'sign_with: ENV.fetch("CACHE_SECRET")' : "trusted: true"
          "Larder::Serializers[:marshal, #{how}]"
        end

        def compressor = ":#{Codecs::Compressors.fetch(@choice.compressor).codec}"
      end
    end
  end
end
