# frozen_string_literal: true

require "uri"
require_relative "../clock"
require_relative "../contender_declaration"
require_relative "../errors"

module Larder
  module Lab
    module Contenders
      # The lab's place in an SQL server, a private one or the user's: a schema or database with nothing but the lab's
      # tables, and a mark. It touches no other, and refuses one of its name without the mark. In a server of the user's
      # one process at a time has it, and drops it when it ends; what a process has left that was killed, the next one
      # drops. In a private server all processes share it, and it goes with the server. A subclass has the gem of its
      # CLIENT, its ERRORS, STATEMENTS in which %s is the name, {#connect}, {#ask} for a value, and {#database}.
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

        attr_reader :name

        def initialize(endpoint)
          @endpoint = endpoint
          @shown = ContenderDeclaration.shown(endpoint["url"])
          number = endpoint["place"].to_i
          @name = number.zero? ? NAME : "#{NAME}_#{number}"
        end

        # Has the place: in a private server whether or not another process has made it, in the user's alone, empty, or
        # with everything in it that another process has stored for this one. Answers itself, or raises Unavailable.
        def settle
          require self.class::CLIENT
          @connection = explained("no answer from #{shown}") { connect }
          @endpoint["private"] ? holds?(:there) || create : take
          self
        end

        private

        attr_reader :connection, :shown

        def url = @endpoint["url"]

        def take
          wait_for_lock
          make unless @endpoint["inherited"]
          at_exit { tell(:drop) }
        end

        # The lock is held until the connection closes.
        def wait_for_lock
          limit = now + PATIENCE
          until holds?(:lock)
            raise Unavailable, "another larder-lab is measuring on #{shown}: wait for its end" if now > limit

            sleep 0.01
          end
        end

        def make
          raise Unavailable, "#{name} on #{shown} is not the lab's: rename it" if holds?(:there) && !holds?(:marked)

          tell(:drop)
          create
        end

        def create = explained("#{shown} does not let the lab make #{name}") { tell(:create).then { tell(:mark) } }

        def holds?(question) = ["t", 1].include?(tell(question))

        def tell(statement) = ask(format(self.class::STATEMENTS.fetch(statement), name))

        def explained(words)
          yield
        rescue *self.class::ERRORS.call => error
          raise Unavailable, "#{words}: #{error.message.lines.first.to_s.strip}"
        end
      end

      # A schema in a database of PostgreSQL.
      # @api private
      class OwnSchema < OwnPlace
        STATEMENTS = { lock: "SELECT pg_try_advisory_lock(hashtext('%s'))",
                       there: "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = '%s')",
                       marked: "SELECT to_regclass('%s.#{MARK}') IS NOT NULL", create: "CREATE SCHEMA %s",
                       mark: "CREATE TABLE %s.#{MARK} ()", drop: "DROP SCHEMA IF EXISTS %s CASCADE" }.freeze
        CLIENT = "pg"
        ERRORS = -> { PG::Error }

        # As Active Record connects to it.
        def database = { adapter: "postgresql", url: url, schema_search_path: name }

        private

        def connect = PG.connect(url).tap { |connection| connection.exec("SET client_min_messages TO warning") }

        def ask(query) = connection.exec(query).values.dig(0, 0)
      end

      # A database of MariaDB or MySQL. Several processes that share it may come at once.
      # @api private
      class OwnDatabase < OwnPlace
        STATEMENTS = { lock: "SELECT GET_LOCK('%s', 0)",
                       there: "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = '%s'",
                       marked: "SELECT COUNT(*) FROM information_schema.tables " \
                               "WHERE table_schema = '%s' AND table_name = '#{MARK}'",
                       create: "CREATE DATABASE IF NOT EXISTS %s",
                       mark: "CREATE TABLE IF NOT EXISTS %s.#{MARK} (nothing INTEGER)",
                       drop: "DROP DATABASE IF EXISTS %s" }.freeze
        CLIENT = "trilogy"
        ERRORS = -> { [Trilogy::Error, SystemCallError] }

        # The options of Trilogy that a URL stands for.
        def self.options(url)
          uri = URI.parse(url)
          user, password = [uri.user, uri.password].map { |text| text && URI.decode_www_form_component(text) }
          socket = URI.decode_www_form(uri.query.to_s).to_h["socket"]
          place = socket ? { socket: socket } : { host: uri.host, port: uri.port || 3306 }
          { **place, username: user || "root", password: password }.compact
        end

        # As Active Record connects to it.
        def database = { adapter: "trilogy", **self.class.options(url), database: name }

        private

        def connect = Trilogy.new(self.class.options(url))

        def ask(query) = connection.query(query).to_a.dig(0, 0)
      end
    end
  end
end
