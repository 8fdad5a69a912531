# frozen_string_literal: true

# Makes and removes the lab's place in an SQL server, a private one or the user's: a schema or database with nothing
# but the lab's tables. Touches no other, and refuses one of that name that it did not make.

require "uri"
require_relative "../clock"
require_relative "../errors"

module Larder
  module Lab
    module Contenders
      # A place with a mark in it. In a server of the user's one process at a time has it, and drops it when it ends;
      # what a process has left that was killed, the next one drops. In a private server all processes share it, and it
      # goes with the server. A subclass speaks to its server: {#connect}, {#lock}, {#there?}, {#marked?}, {#create},
      # {#drop}.
      # @api private
      class OwnPlace
        include Clock

        # Of the schema or database. Processes that use a server of the user's at once have places of their own, whose
        # names end in a number.
        NAME = "larder_lab"
        # Of the table that says whose it is.
        MARK = "made_by_larder_lab"
        # Seconds that another process has for leaving its place.
        PATIENCE = 5

        # @param endpoint [Hash{String=>Object}] of the server
        # @param shown [String] its URL without secrets
        def initialize(endpoint, shown)
          @endpoint = endpoint
          @shown = shown
          number = endpoint["place"].to_i
          @name = number.zero? ? NAME : "#{NAME}_#{number}"
        end

        # Has the place: in a private server whether or not another process has made it, in the user's alone, empty, or
        # with everything in it that another process has stored for this one.
        # @return [String] the name of the schema or database
        # @raise [Unavailable]
        def settle
          @connection = connect
          @endpoint["private"] ? there? || create : take
          name
        end

        private

        attr_reader :connection, :shown, :name

        def url = @endpoint["url"]

        def take
          wait_for_lock
          make unless @endpoint["inherited"]
          at_exit { drop }
        end

        def wait_for_lock
          limit = now + PATIENCE
          until lock
            raise Unavailable, "another larder-lab is measuring on #{shown}: wait for its end" if now > limit

            sleep 0.01
          end
        end

        def make
          raise Unavailable, "#{name} on #{shown} is not the lab's: rename it" if there? && !marked?

          drop
          create
        end

        def no_answer(error) = Unavailable.new("no answer from #{shown}: #{error.message.lines.first.to_s.strip}")
      end

      # A schema in a database of PostgreSQL.
      # @api private
      class OwnSchema < OwnPlace
        private

        def connect
          PG.connect(url).tap { |connection| connection.exec("SET client_min_messages TO warning") }
        rescue PG::Error => error
          raise no_answer(error)
        end

        # Held until the connection closes.
        def lock = truth("SELECT pg_try_advisory_lock(hashtext('#{name}'))")

        def there? = truth("SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = '#{name}')")

        def marked? = truth("SELECT to_regclass('#{name}.#{MARK}') IS NOT NULL")

        def create
          connection.exec("CREATE SCHEMA #{name}; CREATE TABLE #{name}.#{MARK} ()")
        rescue PG::Error => error
          raise Unavailable, "#{shown} lets the lab make no schema: #{error.message.lines.first.to_s.strip}"
        end

        def drop = connection.exec("DROP SCHEMA IF EXISTS #{name} CASCADE")

        def truth(query) = connection.exec(query).getvalue(0, 0) == "t"
      end

      # A database of MariaDB or MySQL.
      # @api private
      class OwnDatabase < OwnPlace
        # The options of Trilogy that a URL stands for.
        def self.options(url)
          uri = URI.parse(url)
          user, password = [uri.user, uri.password].map { |text| text && URI.decode_www_form_component(text) }
          socket = URI.decode_www_form(uri.query.to_s).to_h["socket"]
          place = socket ? { socket: socket } : { host: uri.host, port: uri.port || 3306 }
          { **place, username: user || "root", password: password }.compact
        end

        private

        def connect
          Trilogy.new(self.class.options(url))
        rescue Trilogy::Error, SystemCallError => error
          raise no_answer(error)
        end

        # Held until the connection closes.
        def lock = truth("SELECT GET_LOCK('#{name}', 0)")

        def there? = truth("SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = '#{name}'")

        def marked?
          truth("SELECT COUNT(*) FROM information_schema.tables " \
                "WHERE table_schema = '#{name}' AND table_name = '#{MARK}'")
        end

        # Several processes that share it may come at once.
        def create
          connection.query("CREATE DATABASE IF NOT EXISTS #{name}")
          connection.query("CREATE TABLE IF NOT EXISTS #{name}.#{MARK} (nothing INTEGER)")
        rescue Trilogy::Error => error
          raise Unavailable, "#{shown} lets the lab make no database: #{error.message}"
        end

        def drop = connection.query("DROP DATABASE IF EXISTS #{name}")

        def truth(query) = connection.query(query).first.first.to_i == 1
      end
    end
  end
end
