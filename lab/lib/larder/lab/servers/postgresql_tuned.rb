# frozen_string_literal: true

require_relative "postgresql"

module Larder
  module Lab
    module Servers
      # PostgreSQL with the settings that are known to help a cache: room in memory for all of it and its index, and an
      # autovacuum that keeps up with rows which are written once and deleted soon.
      class PostgresqlTuned < Postgresql
        named "postgresql-tuned", "PostgreSQL that you have tuned", binary: "postgres", port: 5432,
                                  remedy: "install it (Debian: bin/servers, or apt-get install postgresql) or pass " \
                                          "--postgresql-tuned-url"

        private

        def settings
          super + ["shared_buffers=#{2 * megabytes}MB", "autovacuum_naptime=10s", "autovacuum_vacuum_scale_factor=0.02",
                   "autovacuum_vacuum_insert_scale_factor=0.02", "autovacuum_analyze_scale_factor=0.02",
                   "autovacuum_vacuum_cost_delay=0"]
        end
      end
    end
  end
end
