# frozen_string_literal: true

require "active_support"
require "active_support/cache"
require_relative "../../contenders"

module Larder
  module Lab
    module Kinds
      # A store's own time to keep bytes and to give them back, for values of several sizes.
      class StoreCalls < Kind
        Kinds.register("store_calls", self)

        KEY = "larder-lab-advice"
        # Seconds after which the key is gone, whatever happens.
        EXPIRY = 300

        # Hands bytes on as they are.
        # @!visibility private
        module AsIs
          # @api private
          def self.dump(value) = value
          # @api private
          def self.load(bytes) = bytes
        end
        private_constant :AsIs

        # @param _payload [Payloads::Payload]
        # @return [void]
        def run(_payload)
          type = Contenders.fetch(@job["store"])
          contender = type.new(dir: Dir.pwd, endpoint: @job["endpoint"], threads: 1)
          contender.coded_by(compress: false, **(@job["plain"] ? {} : { serializer: AsIs }))
          @store = contender.open.store
          refused = @job["sizes"].reject { |size| calls(size) }
          @store.delete(KEY)
          @worker.emit("facts", refused: refused)
        end

        private

        # @return [Boolean] does it take so many bytes?
        def calls(size)
          bytes = Random.new(size).bytes(size)
          return false unless @store.write(KEY, bytes, expires_in: EXPIRY) && @store.read(KEY) == bytes

          @worker.block("write #{size}") { @store.write(KEY, bytes, expires_in: EXPIRY) }
          copy = @worker.block("read #{size}") { @store.read(KEY) }
          raise Invalid, "a wrong value came back" unless copy == bytes

          true
        end
      end
    end
  end
end
