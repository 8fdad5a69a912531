# frozen_string_literal: true

# Makes the client of a server from the value of `backplane:`.

require "uri"
require "larder/codecs/optional_gems"
require "larder/store/backplane/redis"
require "larder/store/backplane/postgresql"

module Larder
  module Store
    class Backplane
      # A URL, or a Hash. A Hash is for PostgreSQL if its `url:` is one of PostgreSQL or if it has `dbname:`, and for
      # Redis otherwise. Or an Array of these, for nodes of one Redis cluster.
      # @api private
      class Address
        TYPES = { "redis" => :redis, "rediss" => :redis, "unix" => :redis,
                  "postgres" => :postgresql, "postgresql" => :postgresql }.freeze
        # Options with values that are never shown.
        SECRETS = %i[password sentinel_password sslpassword].freeze
        # The part of a URL that has a user or a password, and those of its query.
        CREDENTIALS = %r{//(?:[^:@/]*:)?(.*)@}
        QUERY = /[?&](?:ssl)?password=([^&]*)/
        HIDDEN = "[hidden]"
        TAKES = "the URL of a Redis or Valkey (redis://, rediss://, unix://) or of a PostgreSQL (postgresql://); a " \
                "Hash, as RedisClient.config, RedisClient.sentinel or PG.connect takes it; or an Array of URLs or " \
                "Hashes of nodes of one Redis or Valkey cluster"
        private_constant :TYPES, :SECRETS, :CREDENTIALS, :QUERY, :HIDDEN, :TAKES

        # @param given [String, Hash, Array<String, Hash>]
        def initialize(given)
          @given = given
          @places = (given.is_a?(Array) ? given : [given]).map { |place| options_of(place) }
        end

        # @return [Server]
        # @raise [ArgumentError] the value is not an address, or has an option that the client does not take
        # @raise [Larder::MissingGemError]
        def server
          case @places.map { |place| type_of(place) if place }.uniq
          in [:redis] then redis
          in [:postgresql] if @places.one? then postgresql
          else refuse("it takes #{TAKES}")
          end
        end

        # @param text [String] a message of a client
        # @return [String] without passwords
        def hide(text)
          secrets.reduce(text) { |shown, secret| shown.gsub(secret, HIDDEN) }
        end

        private

        # @return [Hash, nil] nil: it is neither a URL nor a Hash
        def options_of(place)
          case place
          when String then { url: place }
          when Hash then place.to_h.transform_keys { |name| name.is_a?(String) ? name.to_sym : name }
          end
        end

        def type_of(place)
          return TYPES[place[:url].to_s[/\A([a-z]+):/, 1]] if place[:url]

          place.key?(:dbname) ? :postgresql : (:redis if place.any?)
        end

        def redis
          need("redis-client")
          Redis.new(@places.map { |place| with_path(place) })
        rescue URI::Error, ::ArgumentError, TypeError => e
          refuse(e.message)
        end

        def with_path(place)
          return place unless place[:url]&.start_with?("unix:")

          { path: place[:url].delete_prefix("unix:").sub(%r{\A//}, ""), **place.except(:url) }
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

          options
        end

        def need(gem)
          Codecs::OptionalGems.need(gem, gem: gem, who: "backplane: #{shown}")
        end

        def refuse(why)
          raise ::ArgumentError, "backplane: of LarderStore is #{shown}; #{hide(why)}"
        end

        def shown
          hide(@given.inspect)
        end

        # The longest first, as they are written and as they are meant.
        def secrets
          @secrets ||= @places.compact.flat_map { |place| secrets_of(place) }.compact.reject(&:empty?)
                              .flat_map { |secret| [secret, secret.inspect[1..-2]] }.uniq.sort_by { |text| -text.size }
        end

        def secrets_of(place)
          url = place[:url].to_s
          written = [url[CREDENTIALS, 1], url[QUERY, 1]].compact
          [*place.values_at(*SECRETS).grep(String), *sentinels_of(place), *written, *written.map { |text| meant(text) }]
        end

        def sentinels_of(place)
          Array(place[:sentinels]).grep(Hash).flat_map { |sentinel| secrets_of(sentinel) } +
            Array(place[:sentinels]).grep(String).flat_map { |url| secrets_of({ url: url }) }
        end

        def meant(text)
          URI.decode_www_form_component(text)
        rescue ::ArgumentError
          nil
        end
      end
    end
  end
end
