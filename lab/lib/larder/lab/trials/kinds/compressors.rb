# frozen_string_literal: true

module Larder
  module Lab
    module Kinds
      # Bytes to fewer bytes, and back.
      class Compressors < Kind
        Kinds.register("compressors", self)

        # @param payload [Payloads::Payload]
        # @return [void]
        def run(payload)
          bytes = payload.bytes.freeze
          way = TrialCodecs.compressor(@job["codec"], options)
          back = ->(kept) { way.back.call(kept.dup) }
          packed = @worker.try("compress", "decompress", bytes, way.there, back) { |copy| copy == bytes }
          @worker.emit("size", bytes: packed.bytesize, raw: bytes.bytesize, keeps: true)
        end
      end
    end
  end
end
