# frozen_string_literal: true

require_relative "../../advice/payload_nature"

module Larder
  module Lab
    module Kinds
      # What a payload is made of. Measures nothing.
      class Nature < Kind
        Kinds.register("nature", self)

        # @param payload [Payloads::Payload]
        # @return [void]
        def run(payload)
          value = @worker.made { payload.value }
          @worker.emit("facts", **Advice::PayloadNature.new(value).to_h)
        end
      end
    end
  end
end
