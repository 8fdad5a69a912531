# frozen_string_literal: true

# Signs payloads, so that an application reads only its own bytes from a store that is shared over a network.

require "openssl"

module Larder
  module Codecs
    # HMAC (RFC 2104) of SHA-256, cut to 128 bits as that RFC allows, over the codec's id and the payload. The cache
    # key is not part of it: whoever can write to the store can replace one signed value by another.
    class Signature
      SHORTEST_SECRET = 16

      # @param secrets [String, Array<String>] the first signs, all of them verify: put a new one first to rotate
      # @raise [ArgumentError]
      def initialize(secrets)
        @secrets = Array(secrets)
        raise ::ArgumentError, "sign_with: is empty; give a secret, or several" if @secrets.empty?

        @secrets.each do |secret|
          next if secret.is_a?(String) && secret.bytesize >= SHORTEST_SECRET

          raise ::ArgumentError, "sign_with: takes Strings of at least #{SHORTEST_SECRET} bytes, got " \
                                 "#{secret.is_a?(String) ? "one of #{secret.bytesize}" : secret.class}"
        end
      end

      # @return [String] of Frame::SIGNATURE_BYTES
      def sign(id, payload, secret = @secrets.first)
        digest = OpenSSL::HMAC.new(secret, "SHA256")
        digest << id.chr << payload
        digest.digest.byteslice(0, Frame::SIGNATURE_BYTES)
      end

      # @return [Boolean] in a time that does not tell where they differ
      def valid?(signature, id, payload)
        @secrets.any? { |secret| OpenSSL.fixed_length_secure_compare(sign(id, payload, secret), signature) }
      end

      # @return [String] without secrets
      def inspect
        "#<#{self.class} with #{@secrets.size} secrets>"
      end
    end
  end
end
