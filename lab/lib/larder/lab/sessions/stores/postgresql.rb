# frozen_string_literal: true

require_relative "../../contenders/own_schema"
require_relative "in_sql"

module Larder
  module Lab
    module Sessions
      module Stores
        # activerecord-session_store on PostgreSQL as initdb leaves it.
        class PostgresqlStore < InSql
          named "activerecord-postgresql", "activerecord-session_store on PostgreSQL, a model"
          needs_gem "pg", ">= 1.1"
          needs_gem "activerecord-session_store", ">= 2.0"
          needs_server "postgresql"
          bundled_apart "sessions_postgresql"

          # @return [void]
          # @raise [Unavailable]
          def ready
            model.establish_connection(adapter: "postgresql", url: endpoint["url"],
                                       schema_search_path: Contenders::OwnPlace.name_in(endpoint))
            super
          end

          private

          def connect
            require "pg"
            place = Contenders::OwnSchema.new(endpoint["url"], shown(endpoint["url"]),
                                              name: Contenders::OwnPlace.name_in(endpoint))
            apart? ? place.take : place.share
          end
        end
      end
    end
  end
end
