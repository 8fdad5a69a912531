# frozen_string_literal: true

module Larder
  module Lab
    # Formulae for machines that share a store.
    module Layered
      # Messages through a backplane. machines; changes: a second, of all machines; key_bytes.
      Fleet = Struct.new(:machines, :changes, :key_bytes, keyword_init: true) do
        # @return [Float] messages a second that the backplane's server delivers
        def messages
          changes.to_f * machines
        end

        # @return [Float] bytes a second that the backplane's server sends: the protocol of Redis, the channel, the
        #   machine, the kind, and the key in base64
        def message_traffic
          messages * (70 + (4 * (key_bytes / 3.0).ceil))
        end
      end
    end
  end
end
