# frozen_string_literal: true

require_relative "own_place"

module Larder
  module Lab
    module Contenders
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
    end
  end
end
