# frozen_string_literal: true

# Messages by LISTEN and NOTIFY of PostgreSQL, with the gem pg.

require "larder/store/backplane/server"

module Larder
  module Store
    class Backplane
      # Listening needs a connection of its own to the server, not one of a pool that gives connections to others
      # between transactions, as PgBouncer does.
      # @api private
      class Postgresql < Server
        # @param url [String]
        def initialize(url)
          Codecs::OptionalGems.need("pg", gem: "pg", who: "backplane: #{url.inspect}")
          @url = url
        end

        # @return (see Redis#errors)
        def errors
          [PG::Error]
        end

        # @param (see Redis#publish)
        def publish(channel, message)
          publishing { |connection| connection.exec_params("SELECT pg_notify($1, $2)", [channel, message]) }
        rescue PG::Error
          reconnecting
          raise
        end

        # @param (see Redis#listen)
        def listen(channel, round)
          connection = connect
          connection.exec("LISTEN #{connection.quote_ident(channel)}")
          yield :begun
          loop do
            heard = connection.wait_for_notify(round) { |_, _, message| yield :message, message }
            next if heard

            connection.exec("SELECT 1")
            yield :silence
          end
        ensure
          connection&.close
        end

        private

        def connect
          PG.connect(@url, connect_timeout: 2, keepalives: 1, tcp_user_timeout: 2000)
        end
      end
    end
  end
end
