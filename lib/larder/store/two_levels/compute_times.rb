# frozen_string_literal: true

# How long the values of entries of the remote store took to compute.

module Larder
  module Store
    class TwoLevels
      # For `early_refresh:`. The remote store does not have the time, and a copy in the file is replaced several times
      # before its entry expires. So the machine that has computed a value notes its time in the file. The note
      # names the entry by the time at which that expires; a write or another machine's value has no time.
      # @api private
      class ComputeTimes
        SUFFIX = "/larder/time"
        # When the entry expires, in Unix seconds, and milliseconds.
        FORMAT = "GL"
        private_constant :SUFFIX, :FORMAT

        # @param local [LocalLevel]
        # @yieldparam key [String]
        # @yieldreturn [String] the key, short enough for the store
        def initialize(local, &shorten)
          @local = local
          @shorten = shorten
        end

        # @param entry [ActiveSupport::Cache::Entry] that was computed
        # @param compute_ms [Integer]
        # @return [void]
        def note(key, entry, compute_ms)
          now = Clock.now
          return unless entry.expires_at && entry.expires_at > now

          bytes = [entry.expires_at, compute_ms.clamp(0, RecordFormat::MOST_MS)].pack(FORMAT)
          @local.failsafe.guard(:write_entry) do
            @local.cache.set(key_of(key), bytes, ttl: entry.expires_at - now, now: now)
          end
        end

        # @return [Integer, nil] milliseconds
        def of(key, entry)
          name = key_of(key)
          bytes = @local.failsafe.guard(:read_entry) { @local.notes([name])[name] } or return
          expires_at, compute_ms = bytes.unpack(FORMAT)
          compute_ms if expires_at == entry.expires_at
        end

        private

        def key_of(key)
          @shorten.call(key + SUFFIX)
        end
      end
    end
  end
end
