# frozen_string_literal: true

# Messages by publish and subscribe of Redis or Valkey, with redis-client, which the gem redis has, too.

require "larder/store/backplane/server"

module Larder
  module Store
    class Backplane
      # @api private
      class Redis < Server
        TIMEOUT = 2
        private_constant :TIMEOUT

        # @param url [String]
        def initialize(url)
          super()
          Codecs::OptionalGems.need("redis-client", gem: "redis-client", who: "backplane: #{url.inspect}")
          @config = RedisClient.config(**place(url), timeout: TIMEOUT, reconnect_attempts: 1)
        end

        # @return [Array<Class>] that mean that the server could not serve
        def errors
          [RedisClient::Error]
        end

        # @param channel [String]
        # @param message [String]
        def publish(channel, message)
          publishing { |client| client.call("PUBLISH", channel, message) }
        end

        # Yields :begun; :message and a message; :silence after each `round` in which the server has answered.
        #
        # @param round [Numeric] seconds
        def listen(channel, round)
          client = connect
          subscription = client.pubsub
          subscription.call("SUBSCRIBE", channel)
          asked = 0
          loop do
            event, _, message = subscription.next_event(round)
            raise RedisClient::ReadTimeoutError, "no answer for #{asked * round} s" if event.nil? && asked >= TIMEOUT

            case event
            when nil then subscription.call("PING")
            when "subscribe" then yield :begun
            when "message" then yield :message, message
            else yield :silence
            end
            asked = event ? 0 : asked + 1
          end
        ensure
          subscription&.close
          client&.close
        end

        private

        def place(url)
          url.start_with?("unix:") ? { path: url.delete_prefix("unix:").sub(%r{\A//}, "") } : { url: url }
        end

        def connect
          @config.new_client
        end
      end
    end
  end
end
