# frozen_string_literal: true

require_relative "../codecs/lists"
require_relative "stores"

module Larder
  module Lab
    module Advice
      # A store with a serializer and a compressor, see {Suites::Matrix}.
      Choice = Struct.new(:store, :serializer, :compressor) do
        def facts = Stores::ALL.fetch(store)

        # @return [Array<String>] codecs that an application must configure
        def codecs = [serializer, compressor] - %w[default none]

        # @return [String] "redis + message_pack + zstd-3"
        def to_s = [store, *codecs].join(" + ")
      end

      # The lines that configure a choice in an application.
      class Lines
        # Gems by codec; others need none.
        GEMS = { "message_pack" => "msgpack", "zstd-3" => "zstd-ruby", "snappy" => "snappy" }.freeze
        # Keys, index, and what is being written take room besides the values.
        MARGIN = 1.15
        private_constant :GEMS, :MARGIN

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
