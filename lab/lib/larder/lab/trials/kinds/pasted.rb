# frozen_string_literal: true

require "active_support"
require "active_support/cache"
require "active_support/core_ext/numeric"

module Larder
  module Lab
    module Kinds
      # Lines of config/environments/production.rb, as advice prints them: does a store come of them, and how long does
      # it take end to end?
      class Pasted < Kind
        Kinds.register("pasted", self)

        KEY = "larder-lab-pasted"
        # Room that a store gets, whatever the lines say: what is tried need not fill the disk.
        MOST_BYTES = 256 << 20

        # @param payload [Payloads::Payload]
        # @return [void]
        def run(payload)
          value = @worker.made { payload.value }
          store = open_store
          write = ->(given) { store.write(KEY, given, expires_in: 300) || raise(Invalid, "the store refused it") }
          write.call(value)
          copy = store.read(KEY)
          raise Invalid, "a wrong value came back" unless @job["loses"] || payload.same?(copy)

          @worker.block("write") { write.call(value) }
          @worker.block("read") { store.read(KEY) }
          store.delete(KEY)
        end

        private

        def open_store
          ENV.update(@job["variables"].transform_values { |text| text || @job["endpoint"]["url"] })
          require "larder"
          ActiveSupport::Cache.format_version = 7.1
          config = Struct.new(:cache_store).new
          binding.eval(@job["code"], "config/environments/production.rb") # rubocop:disable Security/Eval
          ActiveSupport::Cache.lookup_store(*small(Array(config.cache_store)))
        end

        def small(arguments)
          options = arguments.last
          return arguments unless options.is_a?(Hash) && options[:size]

          [*arguments[0..-2], options.merge(size: [options[:size], MOST_BYTES].min)]
        end
      end
    end
  end
end
