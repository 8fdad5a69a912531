# frozen_string_literal: true

# The versions of tags that this machine has read in the remote store, and when it had read each first.

require "larder/bytes/monotonic_clock"

module Larder
  module Store
    class TwoLevels
      # The block of a `fetch` may set tags, whose versions were not read before it for this call. But a version is
      # never used again: one that this machine had read before the block, and that is current after it, was current all
      # the time. The file has them, for all processes of the machine. One that it has lost counts as not read.
      # @api private
      class SeenTags
        KIND = "seen"
        # Seconds; a version that is read again later is noted again.
        LIFE = 86_400
        FORMAT = "q<a*"
        private_constant :KIND, :LIFE, :FORMAT

        class << self
          # @return [Integer] microseconds of a clock that all processes of a boot and a time namespace have in common,
          #   and that cannot be set
          def moment
            Process.clock_gettime(MonotonicClock::BOOT, :microsecond)
          end

          # @return [String] the boot and the time namespace of this process
          def origin
            @origin ||= ["/proc/sys/kernel/random/boot_id", "/proc/self/ns/time"].map do |path|
              File.symlink?(path) ? File.readlink(path) : File.read(path)
            rescue SystemCallError # a kernel without time namespaces
              ""
            end.join
          end
        end

        # @param notes [Notes]
        def initialize(notes)
          @notes = notes
        end

        # @param versions [Hash{String=>String}] that are current, by the key of each
        # @return [void]
        def note(versions)
          noted = noted(versions.keys)
          at = SeenTags.moment
          fresh = versions.reject { |key, version| version.nil? || noted[key]&.last == text_of(version) }
          return if fresh.empty?

          @notes.write(KIND, fresh.transform_values { |version| [at, text_of(version)].pack(FORMAT) }, LIFE)
        rescue Larder::Error # it counts as not read; the call that reads tags reports what is wrong with the file
          nil
        end

        # @param versions [Hash{String=>String}] as {#note}
        # @param moment [Integer]
        # @return [Array<String>] keys of those that this machine had read before
        def before(versions, moment)
          noted = noted(versions.keys)
          versions.filter_map do |key, version|
            key if noted[key]&.last == text_of(version) && noted[key].first <= moment
          end
        end

        private

        # @return [Hash{String=>Array(Integer, String)}]
        def noted(keys)
          @notes.read(KIND, keys).transform_values { |bytes| bytes.unpack(FORMAT) }
        rescue Larder::Error # as of {#note}
          {}
        end

        # A moment is compared only with others of its origin.
        def text_of(version)
          "#{version}#{SeenTags.origin}".b
        end
      end
    end
  end
end
