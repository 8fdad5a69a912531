# frozen_string_literal: true

require "uri"
require_relative "own_place"

module Larder
  module Lab
    module Contenders
      # A database of MariaDB or MySQL.
      # @api private
      class OwnDatabase < OwnPlace
        # The options of Trilogy that a URL stands for.
        def self.options(url)
          uri = URI.parse(url)
          user, password = [uri.user, uri.password].map { |text| text && URI.decode_www_form_component(text) }
          socket = URI.decode_www_form(uri.query.to_s).to_h["socket"]
          place = socket ? { socket: socket } : { host: uri.host, port: uri.port || Servers::Mariadb.usual_port }
          { **place, username: user || "root", password: password }.compact
        end

        # @param options [Hash{Symbol=>Object}] of Trilogy
        # @param shown [String] the server's URL without secrets
        # @param name [String] of the database
        def initialize(options, shown, name: NAME)
          super
          @options = options
        end

        private

        def connect
          Trilogy.new(@options)
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

        def create
          # Several processes that share it may come at once.
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
