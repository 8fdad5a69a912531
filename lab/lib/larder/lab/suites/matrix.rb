# frozen_string_literal: true

require_relative "coded"

module Larder
  module Lab
    module Suites
      # Any serializer with any compressor in any store, end to end, and the store's own part of that: one value under
      # one key of a store with codecs, and its bytes in a store without.
      module Matrix
        # The codecs of a store as it comes.
        DEFAULT = "default"
        CODECS = [[DEFAULT] * 2, *%w[native marshal message_pack].product(%w[none snappy zstd-3])].freeze
        PAYLOADS = ["products", Coded::GIVEN].freeze
        KEY = "larder-lab-cell"
        # Stores compress a String, but ask no serializer for it. So the cells of this one stand for all.
        STRINGS = "native"

        module_function

        # Keeps a store like the row's that has these codecs, and the value, which is stored.
        def prepare(scene, serializer, compressor, payload)
          raise Unavailable, "the store keeps nothing" unless scene.keeps?

          require_relative "../codecs/ways"
          made = Payloads.of(payload, scene.given)
          way, packing = codecs(scene, serializer, compressor, made.value)
          own = serializer == DEFAULT
          scene[:store] = store(scene, own ? {} : Codecs.options(way, packing), "#{serializer}-#{compressor}")
          must_code(scene, made.value, serializer, way) unless own
          scene[:value] = made.value
          Coded.taken { write(scene) } || raise(Unavailable, "the store refuses the value")
          Coded.refuse(payload) unless Coded.same?(made, way, scene[:store].read(KEY))
          way = Codecs::NONE if made.value.is_a?(String) && !own
          scene[:packed] = Codecs.bytes(made.value, way, packing)
          scene.figures["bytes"] = scene[:packed].bytesize
        end

        # As {.prepare}, with the bytes that the codecs made in place of the value, and no codecs.
        def prepare_bytes(scene, *cell)
          prepare(scene, *cell)
          scene[:value] = scene[:packed]
          scene[:store] = store(scene, Codecs.options(Codecs::NONE, Codecs::NONE), "bytes")
          write(scene)
        end

        def write(scene) = scene[:store].write(KEY, scene[:value], expires_in: 300) ? true : false

        # True if as much came back as was stored.
        def read(scene) = Coded.alike?(scene[:store].read(KEY), scene[:value])

        def store(scene, options, name) = scene.contender.another(name).coded_by(**options).open.store

        # Any value but a String tells whether the store asks for the serializer.
        def must_code(scene, value, serializer, way)
          scene[:store].write(KEY, [], expires_in: 300)
          raise Unavailable, "the store takes no serializer" unless way.asked
          return if serializer == STRINGS || !value.is_a?(String)

          raise Unavailable, "stores serialize no String; see #{STRINGS}"
        end

        # A store that has its own codecs is compared with them, so that its bytes are known.
        def codecs(scene, serializer, compressor, value)
          return [Codecs.serializer(serializer, value), Codecs::Compressors.way(compressor)] if serializer != DEFAULT

          own = { "larder" => "larder", "memory" => "marshal" }.fetch(scene.contender.class.key, "rails")
          [Codecs.serializer(own, value), Codecs::NONE]
        end
        private_class_method :store, :must_code, :codecs
      end

      register("matrix", Bench::Suite.define("matrix") do
        title "Serializer × compressor × store, end to end"
        command "matrix", "any serializer × compressor × store, end to end, and the store's own part", <<~TEXT
          Reads and writes 50 products, or your data, in stores that have a serializer and
          a compressor, and the same bytes in the same stores without: the store's part.
        TEXT
        question "How long do reads and writes with codecs take, and how much of that is the store?"
        usual { %w[larder file redis memcached] }
        answers "read_native_none", "read_marshal_none", "read_message_pack_snappy"
        Coded.choose(self, Matrix::PAYLOADS.first)

        Matrix::PAYLOADS.product(Matrix::CODECS) do |payload, codecs|
          given = payload == Coded::GIVEN
          name = [*codecs.uniq, *(payload if given)].join("_").tr("-", "_")
          words = [codecs.uniq.join(" + "), *("your value" if given)].join(", ")
          cell = { axes: %w[serializer compressor].zip(codecs).to_h, given: given }

          { read: proc { |scene| Matrix.read(scene) }, write: proc { |scene| Matrix.write(scene) } }
            .each do |operation, call|
            block("#{operation}_#{name}", "#{operation}, #{words}", heading: operation.to_s, call: call, **cell) do
              setup { |scene| Matrix.prepare(scene, *codecs, payload) }
            end

            block("#{operation}_bytes_#{name}", "#{operation} of the bytes, #{words}",
                  heading: "store's #{operation}", call: call, **cell) do
              setup { |scene| Matrix.prepare_bytes(scene, *codecs, payload) }
            end
          end
        end
      end)
    end
  end
end
