# frozen_string_literal: true

module Larder
  module Lab
    module Kinds
      # Bytes to fewer bytes, and back.
      class Compressors < Kind
        Kinds.register("compressors", self)

        # Seconds: compressing that takes longer is done once, for the first call of a process adds nothing to that.
        ONCE = 1.0

        # @param payload [Payloads::Payload]
        # @return [void]
        def run(payload)
          bytes = bytes_of(payload).freeze
          way = TrialCodecs.compressor(@job["codec"], options)
          back = ->(kept) { way.back.call(kept.dup) }
          packed = @worker.try("compress", "decompress", bytes, way.there, back, both: true, once: ONCE) do |copy|
            copy == bytes
          end
          @worker.emit("size", bytes: packed.bytesize, raw: bytes.bytesize, keeps: true)
        end

        private

        # Made once in a run: the same for all, and making it may take longer than compressing it.
        def bytes_of(payload)
          file = @job["kept"]
          return File.binread(file) if file && File.exist?(file)

          @worker.made { payload.value }
          bytes = @worker.serialized { payload.bytes }
          return bytes unless file

          File.binwrite("#{file}.part", bytes)
          File.rename("#{file}.part", file)
          bytes
        end
      end
    end
  end
end
