# frozen_string_literal: true

require "zlib"
require_relative "../probe"
require_relative "../../footprint"

module Larder
  module Lab
    module Features
      # Rails' own compressor, that counts.
      module CountingCompressor
        class << self
          # @return [Integer] bytes that went in, and that came out
          attr_accessor :taken, :given

          # @param text [String]
          # @return [String]
          def deflate(text)
            Zlib.deflate(text).tap do |packed|
              self.taken = taken.to_i + text.bytesize
              self.given = given.to_i + packed.bytesize
            end
          end

          # @param packed [String]
          # @return [String]
          def inflate(packed)
            Zlib.inflate(packed)
          end
        end
      end

      # Does a value that can be compressed take less room? The store is opened with {CountingCompressor}.
      class Compression < Probe
        # See {Probe}.
        QUESTIONS = %w[compression].freeze
        # Below memcached's megabyte.
        BYTES = 900_000
        # Values whose room is compared.
        COUNT = 10
        WHEN_ASKED = "on request"

        # Unasked, or with `compress: true`.
        def compression
          keep("unasked", text(0))
          return [true, "unasked: #{seen}"] if packed?

          keep("asked", text(1), compress: true)
          packed?(compress: true) ? [WHEN_ASKED, "with compress: true: #{seen}"] : [false, seen]
        end

        private

        # By the count where the store takes a compressor, else by the room that is taken.
        def packed?(**options)
          return CountingCompressor.taken.to_i >= BYTES if job["counting"]

          @texts = growth("text", options) { |i| text(i) }
          @noises = growth("noise", options) { |i| Random.new(i).bytes(BYTES) }
          @texts < @noises / 2
        end

        def seen
          return "#{COUNT} texts took #{megabytes(@texts)}, as much noise #{megabytes(@noises)}" unless job["counting"]

          taken, given = [CountingCompressor.taken, CountingCompressor.given].map(&:to_i)
          taken.zero? ? "the compressor is not asked" : "#{taken} bytes became #{given}"
        end

        def growth(name, options)
          before = footprint
          COUNT.times { |i| store.write("#{name}-#{i}-#{options.size}", yield(i), **options) }
          growth = footprint - before
          job["endpoint"] ? [growth.server, growth.disk].max : [growth.own, growth.mapped, growth.disk].max
        end

        def footprint
          Footprint.take(pid: job.dig("endpoint", "pid"), dirs: [*job["directories"], job["server_dir"]].compact)
        end

        def text(number)
          line = "All work and no play makes #{number} a dull number. "
          (line * (BYTES / line.size)).ljust(BYTES)
        end

        def megabytes(bytes)
          format("%.1f MB", bytes / 1e6)
        end
      end
    end
  end
end
