# frozen_string_literal: true

# The addresses of servers, as `remote:` and `backplane:` of LarderStore have them. They may have passwords, which no
# error, report or log shows.

require "uri"

module Larder
  module Remote
    # @api private
    module Addresses
      # Names of options with values that are not shown.
      SECRET = /password|passphrase|secret|token|\Akey\z/i
      # In a URL, or a place without a scheme: all between the ":" after the user and the last "@".
      CREDENTIALS = %r{\A(?:(?:[a-z][a-z\d+.-]*:)?//)?(?:[^:@/]*:)?(.*)@}mi
      # In the query of a URL, or as libpq takes options in a String.
      QUERY = /(?:\A|[?&\s])(?:ssl)?password=('[^']*'|[^&\s]*)/i
      # In a URL somewhere in a text, also one that was not given.
      OF_URL = %r{(?<=//)([^\s:@/"']*:)[^\s@"']*(?=@)}n
      # Environment variables that clients read if they are given no address.
      VARIABLES = %w[REDIS_URL MEMCACHE_SERVERS].freeze
      HIDDEN = "[hidden]"
      PORTS = 1..65_535
      private_constant :SECRET, :CREDENTIALS, :QUERY, :OF_URL, :VARIABLES, :HIDDEN, :PORTS

      module_function

      # @param text [String] a message, or what `inspect` answers
      # @param given [Array<Object>] addresses and options that may have passwords
      # @return [String] the text without these
      def hide(text, *given)
        found = secrets([given, ENV.values_at(*VARIABLES)])
        found = found.flat_map { |secret| [secret, decoded(secret)] }.compact.reject(&:empty?)
        found = found.flat_map { |secret| [secret, secret.inspect[1..-2]] }.uniq.sort_by { |secret| -secret.bytesize }
        hidden = found.reduce(text.b) { |shown, secret| shown.gsub(secret.b, HIDDEN) }
        hidden.gsub(OF_URL, "\\1#{HIDDEN}").force_encoding(Encoding::UTF_8).scrub
      end

      # @param given [Object]
      # @return [String] it, as code, without passwords
      def show(given)
        hide(given.inspect, given)
      end

      # @param port [Integer, String, nil] nil: the client's default
      # @return [String, nil] the reason why a server cannot have the port
      def wrong_port(port)
        return if port.nil? || (port.to_s.match?(/\A\d+\z/) && PORTS.cover?(port.to_i))

        "the port is #{port.inspect}; it takes a number from #{PORTS.min} to #{PORTS.max}"
      end

      # @return [Array<String>]
      def secrets(given)
        case given
        when Hash
          given.flat_map { |name, value| SECRET.match?(name.to_s.b) ? texts(value) : secrets(value) }
        when Array then given.flat_map { |each| secrets(each) }
        when String, URI::Generic then secrets_of_text(given.to_s.b)
        else []
        end
      end

      # Also of each place in a list with commas.
      #
      # @param text [String] of bytes: it may be valid in no encoding
      def secrets_of_text(text)
        found = [text, *text.split(",")].flat_map { |place| [place[CREDENTIALS, 1], *place.scan(QUERY).flatten] }
        found.compact.each { |secret| secret.force_encoding(Encoding::UTF_8) }
      end

      def texts(value)
        value.is_a?(Enumerable) ? value.flat_map { |each| texts(each) } : [value.to_s]
      end

      # A client may have decoded it.
      def decoded(secret)
        URI.decode_www_form_component(secret)
      rescue ::ArgumentError
        nil
      end
      private_class_method :secrets, :secrets_of_text, :texts, :decoded
    end
  end
end
