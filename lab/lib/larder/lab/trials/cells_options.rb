# frozen_string_literal: true

# Parses the options of `larder-lab matrix`: any serializer with any compressor in any store.

require_relative "options"
require_relative "../contenders"

module Larder
  module Lab
    module Trials
      # Which cells.
      class CellsOptions < Options
        SERIALIZERS = %w[native marshal message_pack].freeze
        COMPRESSORS = %w[none lz4 zstd-3].freeze
        STORES = %w[larder memory redis memcached].freeze

        # @return [String]
        def list
          [row("Serializers", ::Larder::Lab::TrialContenders::SERIALIZERS.map(&:name) | ["native"]),
           row("Compressors", ::Larder::Lab::TrialContenders::COMPRESSORS.map(&:name)), row("Stores", Contenders.names),
           row("Payloads", Payloads.names)].join("\n")
        end

        private

        def row(title, names)
          "#{title}: #{names.join(", ")}"
        end

        def trials
          serializers.product(compressors, stores, chosen_payloads).map do |serializer, compressor, store, payload|
            job = { payload: payload, source: @given[:source], count: setting(:count), codec: serializer,
                    compressor: compressor.codec.to_s, compressor_options: compressor.options, store: store }
            Trial.new(name: [serializer, compressor.name, store].join(" "), group: payload, job: job,
                      server: Contenders.fetch(store).server)
          end
        end

        def serializers
          names = setting(:serializers) || SERIALIZERS
          known = TrialContenders::SERIALIZERS.map(&:name) - %w[larder rails] + ["native"]
          unknown = names - known
          raise UsageError, "unknown serializer #{unknown.first}; known: #{known.join(", ")}" unless unknown.empty?

          names
        end

        def compressors
          TrialContenders.choose(TrialContenders::COMPRESSORS, setting(:compressors) || COMPRESSORS)
        end

        def stores
          Contenders.check(setting(:stores) || STORES)
        end

        def choice_options(options)
          options.separator("\nWhat:")
          defaults = { serializers: SERIALIZERS, compressors: COMPRESSORS, stores: STORES, payloads: @payloads }
          defaults.each do |what, names|
            options.on("--#{what} A,B", Array, "default #{names.join(",")}") { |given| @given[what] = given }
          end
          options.on("--payload SOURCE", "your data: a file (.json, .marshal, .rb, any),",
"or ruby:EXPRESSION") do |text|
            @given[:source] = source(text)
          end
          options.on("--list", "list serializers, compressors, stores and payloads") { @list = true }
        end
      end
    end
  end
end
