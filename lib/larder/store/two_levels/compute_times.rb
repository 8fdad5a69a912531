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
        KIND = "time"
        # When the entry expires, in Unix seconds, and milliseconds.
        FORMAT = "GL"
        private_constant :KIND, :FORMAT

        # @param notes [Notes]
        # @param failsafe [Failsafe]
        def initialize(notes, failsafe)
          @notes = notes
          @failsafe = failsafe
        end

        # @param entry [ActiveSupport::Cache::Entry] that was computed
        # @param compute_ms [Integer]
        # @return [void]
        def note(key, entry, compute_ms)
          now = Clock.now
          return unless entry.expires_at && entry.expires_at > now

          bytes = [entry.expires_at, compute_ms.clamp(0, RecordFormat::MOST_MS)].pack(FORMAT)
          @failsafe.guard(:write_entry) { @notes.write(KIND, { key => bytes }, entry.expires_at - now) }
        end

        # @return [Integer, nil] milliseconds
        def of(key, entry)
          bytes = @failsafe.guard(:read_entry) { @notes.read(KIND, [key])[key] } or return
          expires_at, compute_ms = bytes.unpack(FORMAT)
          compute_ms if expires_at == entry.expires_at
        end
      end
    end
  end
end
