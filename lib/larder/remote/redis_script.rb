# frozen_string_literal: true

# A script that a Redis or Valkey runs.

require "digest/sha1"

module Larder
  module Remote
    # It is sent by its digest. A server that does not know it, as it was just started, is sent its text.
    # @api private
    class RedisScript
      # The beginning of the answer in that case.
      UNKNOWN = "NOSCRIPT"
      private_constant :UNKNOWN

      # @param text [String] in Lua
      def initialize(text)
        @text = text
        @digest = Digest::SHA1.hexdigest(text)
      end

      # @param client [Object] of the gem redis, or of redis-client
      # @param keys [Array<String>]
      # @param arguments [Array<String>]
      # @return [Object] the answer of the script
      def call(client, keys, arguments)
        run(client, :evalsha, @digest, keys, arguments)
      rescue StandardError => e
        raise unless e.message.start_with?(UNKNOWN)

        run(client, :eval, @text, keys, arguments)
      end

      private

      # Clients of redis-client have no methods for commands.
      def run(client, command, script, keys, arguments)
        return client.public_send(command, script, keys: keys, argv: arguments) if client.respond_to?(command)

        client.call(command.to_s.upcase, script, keys.size, *keys, *arguments)
      end
    end
  end
end
