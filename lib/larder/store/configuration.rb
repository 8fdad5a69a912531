# frozen_string_literal: true

# Tells apart the configurations of stores with two levels that use one file.

require "digest"

module Larder
  module Store
    # A copy of an entry is believed only by processes that have the same remote store, backplane and
    # `local_expires_in:` as its writer. Other processes may not know of a change of it, or keep it longer. Namespaces
    # do not belong to it, because keys have them.
    # @api private
    class Configuration
      # The parts of a backplane that say which server it is. A password does not.
      PARTS = %i[url host hostaddr port path name sentinels dbname service].freeze
      # As redis://user:password@host:6379/0?…; the password may have an "@".
      URL = %r{\A(?<type>[a-z]+):(?://)?(?:.*@)?(?<host>[^/?]*)(?<path>[^?]*)(?:\?(?<query>.*))?\z}
      # Messages of Redis have no database.
      PORT_OF_REDIS = 6379
      private_constant :PARTS, :URL, :PORT_OF_REDIS

      class << self
        # @param text [String]
        # @return [Integer] of 64 bits, never 0
        def number(text)
          [Digest::SHA256.digest(text).unpack1("Q<"), 1].max
        end

        # @param number [Integer]
        # @return [String] for names of files
        def hex(number)
          format("%016x", number)
        end

        # @param given [String, Hash, Array, nil] what `backplane:` of LarderStore is
        # @return [String] the same for the same servers
        def place(given)
          case given
          when Array then given.map { |each| place(each) }.sort.join(",")
          when Hash
            given.transform_keys(&:to_sym).slice(*PARTS).map { |name, part| "#{name}=#{place(part)}" }.sort.join(" ")
          else place_of_url(given.to_s)
          end
        end

        private

        def place_of_url(text)
          url = URL.match(text) or return text
          return "unix:#{url[:host]}#{url[:path]}" if url[:type] == "unix"
          return "redis:#{with_port(url[:host].downcase)}" if %w[redis rediss].include?(url[:type])

          query = url[:query].to_s.split("&").select { |part| PARTS.include?(part[/\A[^=]*/].to_sym) }
          "postgresql:#{url[:host].downcase}#{url[:path]}?#{query.sort.join("&")}"
        end

        def with_port(host)
          host = "localhost" if host.empty?
          host.match?(/:\d+\z/) ? host : "#{host.delete_suffix(":")}:#{PORT_OF_REDIS}"
        end
      end

      # @return [Integer] of 64 bits, never 0
      attr_reader :digest

      # @param remote [String] see Remote#identity
      # @param backplane [String, Hash, Array, nil] what `backplane:` of LarderStore is
      # @param local_expires_in [Float] seconds
      def initialize(remote:, backplane:, local_expires_in:)
        @digest = Configuration.number([remote, Configuration.place(backplane), local_expires_in].join("\0"))
      end

      # @return [String] for names of files
      def name
        Configuration.hex(digest)
      end
    end
  end
end
