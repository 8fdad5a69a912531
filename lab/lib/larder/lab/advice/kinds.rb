# frozen_string_literal: true

# The kinds of what is tried for an advice: the nature of a value, codecs on it, stores, and the lines that are advised.
# Loaded in worker processes only.

require "active_support"
require "active_support/cache"
require "active_support/core_ext/numeric"
require "larder/cli/registry"
require_relative "../contenders"
require_relative "losses"
require_relative "payload_nature"

module Larder
  module Lab
    module Advice
      # What a worker does with a payload.
      module Kinds
        extend CLI::Registry
        holds "kind of trial"

        # Answers `run(payload)`.
        class Kind
          # @param worker [Worker]
          # @param job [Hash{String => Object}]
          def initialize(worker, job)
            @worker = worker
            @job = job
          end
        end

        # What a payload is made of. Measures nothing.
        class Nature < Kind
          Kinds.register("nature", self)

          # @param payload [Payloads::Payload]
          # @return [void]
          def run(payload)
            value = payload.value
            @worker.emit("facts", **PayloadNature.new(value).to_h)
          end
        end

        # One serializer as a store would be given it, and every compressor on what it wrote: the times and sizes that
        # advice is made of.
        class Parts < Kind
          Kinds.register("parts", self)

          # @param payload [Payloads::Payload]
          # @return [void]
          def run(payload)
            value = payload.value
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
            return Codecs.larder if @job["codec"] == "larder"

            made = ::Larder::Serializers[@job["codec"], trusted: true]
            Codecs::Way.new(made.method(:dump).to_proc, made.method(:load).to_proc, true)
          rescue ::Larder::MissingGemError => error
            raise Unavailable, error.message
          end

          def losses(payload, value, copy)
            found = Losses.between(value, copy)
            found.empty? && !payload.same?(copy) ? ["it comes back different"] : found
          end

          # @return [Integer, String] bytes, or why there are none
          def compressor(job, bytes)
            way = Codecs.compressor(job["codec"], **job["options"].transform_keys(&:to_sym))
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

        # Lines of config/environments/production.rb, as advice prints them: whether a store comes of them, and how long
        # it takes end to end.
        class Pasted < Kind
          Kinds.register("pasted", self)

          KEY = "larder-lab-pasted"
          # Room that a store gets, whatever the lines say: what is tried need not fill the disk.
          MOST_BYTES = 256 << 20

          # @param payload [Payloads::Payload]
          # @return [void]
          def run(payload)
            value = payload.value
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
end
