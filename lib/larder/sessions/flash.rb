# frozen_string_literal: true

# Merges the flash messages of requests that overlap.

module Larder
  module Sessions
    # Each message is a value of its own, although a library stores all of them under one key of the session. Otherwise
    # a request would remove the message that another has set, also when it removes one that it has shown.
    module Flash
      # The keys of Rails and Sinatra, of Roda and Hanami, and of rack-flash.
      KEYS = %w[flash _flash __FLASH__].freeze

      class << self
        # @param before [Object, nil] what the request found; nil: nothing
        # @param mine [Object, nil] what it leaves
        # @param now [Object, nil] what other requests have left since
        # @return [Object, nil]
        def merge(before, mine, now)
          return mine if now == before
          return now if mine == before || mine == now
          return mine || now unless [before, mine, now].all? { |one| one.nil? || one.is_a?(Hash) }

          merge_each(before.to_h, mine.to_h, now.to_h)
        end

        private

        def merge_each(before, mine, now)
          keys = now.keys | mine.keys
          keys.to_h { |key| [key, merge(before[key], mine[key], now[key])] }.compact
        end
      end
    end
  end
end
