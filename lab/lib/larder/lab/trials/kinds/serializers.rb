# frozen_string_literal: true

module Larder
  module Lab
    module Kinds
      # Values to bytes, and back.
      class Serializers < Kind
        Kinds.register("serializers", self)

        # @param payload [Payloads::Payload]
        # @return [void]
        def run(payload)
          value = @worker.made { payload.value }
          way = TrialCodecs.serializer(@job["codec"], options, value)
          packed = @worker.try("serialize", "deserialize", value, way.there, ->(kept) { way.back.call(kept.dup) },
                               both: true, &judge(payload, way))
          @worker.emit("size", bytes: packed.bytesize, raw: marshalled(value), keeps: way.keeps)
        end
      end
    end
  end
end
