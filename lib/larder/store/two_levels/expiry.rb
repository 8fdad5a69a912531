# frozen_string_literal: true

# Ends the time of an entry in the remote store, and of its copies: `expire`.

module Larder
  module Store
    class TwoLevels
      # If the remote store does not answer, it deletes the entry later.
      # @api private
      class Expiry
        # @param levels [TwoLevels]
        def initialize(levels)
          @local = levels.local
          @failsafe = levels.failsafe
          @remote = levels.remote
          @machines = levels.machines
        end

        # As of LocalExpiry, first in the remote store.
        def expire(call)
          answer = begin
            @failsafe.guard(:expire) { @remote.outbox.change(:delete, [call.key]) { expire_remotely(call) } }
          ensure
            copy = @local.expire(call)
            @machines.publish(:keys, [call.key])
          end
          answer.nil? ? copy : answer
        end

        private

        # The entry is deleted, which ends its lease, and stored again if no other caller has stored one since.
        def expire_remotely(call)
          entry = @remote.read(call.key) if call.window
          had_expired = entry&.expired?
          deleted = @remote.delete_multi([call.key]).positive?
          return deleted unless entry

          entry.expires_at = Clock.now unless had_expired
          left = call.window - (Clock.now - entry.expires_at)
          @remote.write(call.key, entry, left, unless_exist: true) if left.positive?
          !had_expired
        end
      end
    end
  end
end
