# frozen_string_literal: true

# Makes the client of a server from the value of `backplane:`.

require "uri"
require "larder/codecs/optional_gems"
require "larder/remote/addresses"
require "larder/remote/backplane/redis"
require "larder/remote/backplane/postgresql"

module Larder
  module Remote
    class Backplane
      # A URL, also as a URI object, or a Hash. A Hash is for PostgreSQL if its `url:` is one of PostgreSQL or if it has
      # `dbname:`, and for Redis otherwise. Or an Array of these, for nodes of one Redis cluster.
      # @api private
      class Address
        TYPES = { "redis" => :redis, "rediss" => :redis, "unix" => :redis,
                  "postgres" => :postgresql, "postgresql" => :postgresql }.freeze
        TAKES = "the URL of a Redis or Valkey (redis://, rediss://, unix://) or of a PostgreSQL (postgresql://); a " \
                "Hash, as RedisClient.config, RedisClient.sentinel or PG.connect takes it; or an Array of URLs or " \
                "Hashes of nodes of one Redis or Valkey cluster"
        private_constant :TYPES, :TAKES

        # @param given [String, URI, Hash, Array<String, URI, Hash>]
        def initialize(given)
          @given = given
          @places = (given.is_a?(Array) ? given : [given]).map { |place| options_of(place) }
        end

        # @return [Server]
        # @raise [ArgumentError] the value is not an address, or has an option that the client does not take
        # @raise [Larder::MissingGemError]
        def server
          @server ||= made
        end

        # @return [String] the same for the same servers, without passwords
        # @raise (see #server)
        def place
          server.place
        end

        # @param text [String] a message of a client
        # @return [String] without passwords
        def hide(text)
          Addresses.hide(text, @given)
        end

        # @return [String] without passwords
        def inspect
          "#<#{self.class.name} #{Addresses.show(@given)}>"
        end

        private

        def made
          case @places.map { |place| type_of(place) if place }.uniq
          in [:redis] then redis
          in [:postgresql] if @places.one? then postgresql
          else refuse("it takes #{TAKES}")
          end
        end

        # @return [Hash, nil] nil: it is neither a URL nor a Hash
        def options_of(place)
          case place
          when String, URI::Generic then { url: place.to_s }
          when Hash
            options = place.to_h.transform_keys { |name| name.is_a?(String) ? name.to_sym : name }
            options[:url].is_a?(URI::Generic) ? { **options, url: options[:url].to_s } : options
          end
        end

        def type_of(place)
          return TYPES[place[:url].to_s[/\A([a-z]+):/, 1]] if place.key?(:url)

          place.key?(:dbname) ? :postgresql : (:redis if place.any?)
        end

        def redis
          need("redis-client")
          @places.each { |place| check_sentinels(place) if place.key?(:sentinels) }
          Redis.new(@places.map { |place| with_path(place) })
        rescue URI::Error, ::ArgumentError, TypeError => e
          refuse(e.message)
        end

        def check_sentinels(place)
          return if place[:sentinels].is_a?(Array) && place[:sentinels].any?

          raise ::ArgumentError, "sentinels: takes an Array of URLs or Hashes, at least one"
        end

        def with_path(place)
          return place unless place[:url]&.start_with?("unix:")

          path = place[:url].delete_prefix("unix:").sub(%r{\A//}, "")
          raise ::ArgumentError, "unix:// takes the path of a socket" if path.empty?

          { path: path, **place.except(:url) }
        end

        def postgresql
          need("pg")
          begin
            options = @places.first.except(:url)
            Postgresql.new(checked({ **options_of_url(@places.first[:url]), **options }))
          rescue PG::Error => e
            refuse(e.message)
          end
        end

        def options_of_url(url)
          return {} unless url

          PG::Connection.conninfo_parse(url).filter_map { |known| [known[:keyword].to_sym, known[:val]] if known[:val] }
                        .to_h
        end

        def checked(options)
          unknown = options.keys - PG::Connection.conndefaults.map { |known| known[:keyword].to_sym }
          refuse("PG.connect takes no #{unknown.first.inspect}") if unknown.any?
          refuse("the host has an \"@\": write that of a password as %40") if options[:host].to_s.include?("@")
          wrong = options[:port].to_s.split(",").filter_map { |port| Addresses.wrong_port(port) unless port.empty? }
          refuse(wrong.first) if wrong.any?

          options
        end

        def need(gem)
          Codecs::OptionalGems.need(gem, gem: gem, who: "backplane: #{shown}")
        end

        # An error that the message is of has passwords, so it is not the cause.
        def refuse(why)
          raise ::ArgumentError, "backplane: of LarderStore is #{shown}; #{hide(why)}", cause: nil
        end

        def shown
          Addresses.show(@given)
        end
      end
    end
  end
end
