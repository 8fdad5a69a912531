# frozen_string_literal: true

# Ends the time of an entry in the remote store, and of its copies: `expire`.

require "larder/store/two_levels/remote_lease"

module Larder
  module Store
    class TwoLevels
      # The old value is stored again, as one that has expired, under the lease of the key, which a running computation
      # loses. So it does not come back if another caller deletes or overwrites it at the same moment: then the entry is
      # deleted. If the remote store does not answer, it deletes the entry later.
      # @api private
      class Expiry
        # @param levels [TwoLevels]
        def initialize(levels)
          @levels = levels
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

        def expire_remotely(call)
          was_live = keep_old(call) if call.window && !call.options[:raw]
          was_live.nil? ? @remote.delete_multi([call.key]).positive? : was_live
        end

        # One that has expired already is kept as it is.
        #
        # @return [Boolean, nil] nil: the entry is to be deleted
        def keep_old(call)
          was_live = nil
          replaced = RemoteLease.new(@levels, call, nil).replace do |entry|
            was_live = entry && !entry.expired?
            next unless was_live

            old = entry.dup
            old.expires_at = Clock.now
            [old, call.window]
          end
          was_live if replaced || was_live == false
        rescue ActiveSupport::Cache::DeserializationError
          nil # the value's class is gone
        end
      end
    end
  end
end
