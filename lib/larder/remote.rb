# frozen_string_literal: true

# The second level: a Rails store that several machines share.

require "larder/remote/configuration"
require "larder/remote/adapters"
require "larder/remote/builder"
require "larder/remote/client"
require "larder/remote/heartbeat"
require "larder/remote/outbox"

module Larder
  # {Client} calls the store, and {Outbox} has the changes that it has not got. Neither needs a LarderStore.
  # @api private
  module Remote
    # @param key [String]
    # @return [String] the key of its lease. It begins with the key, so a delete of a prefix ends leases, too
    def self.lease_key(key)
      key.b << "/larder/lease"
    end
  end
end
