# frozen_string_literal: true

require "active_support"
require "active_support/cache"
require_relative "../../contenders"
require_relative "../coding"

module Larder
  module Lab
    module Kinds
      # One serializer and one compressor in one store, end to end through Rails' API, and each step by itself.
      class Cells < Kind
        Kinds.register("cells", self)

        KEY = "larder-lab-cell"

        # @param payload [Payloads::Payload]
        # @return [void]
        def run(payload)
          ActiveSupport::Cache.format_version = 7.1
          value = @worker.made { payload.value }
          open_store(value)
          @worker.try("write", "read", value, lambda do |given|
            @store.write(KEY, given, expires_in: 300) || raise(Invalid, "the store refused the value")
            KEY
          end, ->(key) { @store.read(key) }, &judge(payload, @way))
          steps(value)
          @store.delete(KEY)
        end

        private

        def open_store(value)
          @way = TrialCodecs.serializer(@job["codec"], {}, value)
          @packing = TrialCodecs.compressor(@job["compressor"], @job["compressor_options"].transform_keys(&:to_sym))
          type = Contenders.fetch(@job["store"])
          @coding = TrialCodecs::Coding.new(@way, @packing)
          @contender = type.new(dir: Dir.pwd, endpoint: @job["endpoint"], threads: 1)
          @contender.coded_by(**@coding.to_options)
          @store = @contender.open.store
          look_at_store(value)
        end

        # Else what is measured would not be what the row says.
        def look_at_store(value)
          @worker.serialized { @store.write(KEY, value, expires_in: 300) }
          raise Unavailable, "the store keeps nothing" if @store.read(KEY).nil?
          raise Unavailable, "the store takes no serializer from us" unless @coding.asked?
        end

        def steps(value)
          bytes = @worker.block("serialize") { @way.there.call(value) }
          packed = @worker.block("compress") { @packing.there.call(bytes) }
          packed = bytes if packed.bytesize >= bytes.bytesize
          @worker.block("store") { @store.write(KEY, packed, raw: true, expires_in: 300) }
          @worker.block("load") { @store.read(KEY, raw: true) }
          @worker.block("decompress") { packed.equal?(bytes) ? bytes : @packing.back.call(packed.dup) }
          @worker.block("deserialize") { @way.back.call(bytes.dup) }
          @worker.emit("size", bytes: packed.bytesize, raw: bytes.bytesize, keeps: @way.keeps)
        end
      end
    end
  end
end
