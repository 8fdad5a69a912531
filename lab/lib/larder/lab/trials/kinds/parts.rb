# frozen_string_literal: true

require_relative "../../advice/losses"

module Larder
  module Lab
    module Kinds
      # One serializer as a store would be given it, and every compressor on what it wrote: the times and sizes that
      # advice is made of.
      class Parts < Kind
        Kinds.register("parts", self)

        # @param payload [Payloads::Payload]
        # @return [void]
        def run(payload)
          value = @worker.made { payload.value }
          way = serializer
          bytes = @worker.serialized { way.there.call(value) }
          losses = losses(payload, value, way.back.call(bytes.dup))
          @worker.block("serialize") { way.there.call(value) }
          @worker.block("deserialize") { way.back.call(bytes.dup) }
          packed = @job["compressors"].to_h { |each| [each["name"], compressor(each, bytes)] }
          @worker.emit("facts", bytes: bytes.bytesize, losses: losses, packed: packed)
        end

        private

        # Values go to it as they are: what it refuses is refused in an application, too.
        def serializer
          return TrialCodecs.larder if @job["codec"] == "larder"

          made = ::Larder::Serializers[@job["codec"], trusted: true]
          TrialCodecs::Way.new(made.method(:dump).to_proc, made.method(:load).to_proc, true)
        rescue ::Larder::MissingGemError => error
          raise Unavailable, error.message
        end

        def losses(payload, value, copy)
          found = Advice::Losses.between(value, copy)
          found.empty? && !payload.same?(copy) ? ["it comes back different"] : found
        end

        # @return [Integer, String] bytes, or why there are none
        def compressor(job, bytes)
          way = TrialCodecs.compressor(job["codec"], job["options"].transform_keys(&:to_sym))
          packed = way.there.call(bytes)
          raise Invalid, "a wrong value came back of #{job["name"]}" unless way.back.call(packed.dup) == bytes
          return bytes.bytesize unless way.compresses?

          @worker.block("compress #{job["name"]}") { way.there.call(bytes) }
          @worker.block("decompress #{job["name"]}") { way.back.call(packed.dup) }
          packed.bytesize
        rescue Unavailable => error
          error.message
        end
      end
    end
  end
end
