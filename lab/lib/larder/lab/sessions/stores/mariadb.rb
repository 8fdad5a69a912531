# frozen_string_literal: true

require_relative "in_sql"

module Larder
  module Lab
    module Sessions
      module Stores
        # SQL by hand.
        class MariadbByHand < InSql
          named "sql-mariadb", "activerecord-session_store's SqlBypass on MariaDB: SQL by hand, as was published"
          needs_gem "trilogy", ">= 2.4"
          needs_gem "activerecord-session_store", ">= 2.0"
          bundled_apart "sessions"
          by_hand
        end

        # The gem's own defaults.
        class MariadbStore < InSql
          named "activerecord-mariadb", "activerecord-session_store on MariaDB, a model"
          needs_gem "trilogy", ">= 2.4"
          needs_gem "activerecord-session_store", ">= 2.0"
          bundled_apart "sessions"
        end
      end
    end
  end
end
