# frozen_string_literal: true

# Messages by publish and subscribe of Redis or Valkey, with redis-client, which the gem redis has, too.

require "larder/store/backplane/server"

module Larder
  module Store
    class Backplane
      # @api private
      class Redis < Server
        # Seconds that a call waits for its answer, twice at most.
        TIMEOUT = 1
        # Rounds without an answer after which the server that is listened to has failed.
        ROUNDS = 2
        private_constant :TIMEOUT, :ROUNDS

        # @param urls [Array<String>] of one server, or of nodes of one cluster, which pass messages on to each other
        def initialize(*urls)
          Codecs::OptionalGems.need("redis-client", gem: "redis-client", who: "backplane: #{urls.first.inspect}")
          @configs = urls.map { |url| RedisClient.config(**place(url), timeout: TIMEOUT, reconnect_attempts: 1) }
          @heard = @configs.dup
        end

        # @return [Array<Class>] that mean that the server could not serve
        def errors
          [RedisClient::Error]
        end

        # If a node does not answer, the next one is told, now and from now on.
        #
        # @param channel [String]
        # @param message [String]
        def publish(channel, message)
          failures = 0
          begin
            publishing { |client| client.call("PUBLISH", channel, message) }
          rescue RedisClient::Error
            raise if (failures += 1) >= @configs.size

            reconnecting
            @configs.rotate!
            retry
          end
        end

        # Yields :begun; :message and a message; :silence after each `round` in which the server has answered. If that
        # fails, the next call listens to the next node.
        #
        # @param round [Numeric] seconds
        def listen(channel, round)
          client = @heard.first.new_client
          subscription = client.pubsub
          subscription.call("SUBSCRIBE", channel)
          asked = 0
          loop do
            event, _, message = subscription.next_event(round)
            raise RedisClient::ReadTimeoutError, "no answer for #{asked * round} s" if event.nil? && asked >= ROUNDS

            case event
            when nil then subscription.call("PING")
            when "subscribe" then yield :begun
            when "message" then yield :message, message
            else yield :silence
            end
            asked = event ? 0 : asked + 1
          end
        rescue RedisClient::Error
          @heard.rotate!
          raise
        ensure
          subscription&.close
          client&.close
        end

        private

        def place(url)
          url.start_with?("unix:") ? { path: url.delete_prefix("unix:").sub(%r{\A//}, "") } : { url: url }
        end

        def connect
          @configs.first.new_client
        end
      end
    end
  end
end
