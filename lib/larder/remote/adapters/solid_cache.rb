# frozen_string_literal: true

# Solid Cache as a second level.

require "larder/bytes/monotonic_clock"
require "larder/remote/adapters/server"
require "larder/remote/servers"

module Larder
  module Remote
    module Adapters
      # Makes a call again if the database has undone its transaction for that of another process. MariaDB and MySQL
      # do that where two processes store keys that are not there, and SQLite before Rails 8 where two of them count.
      module Again
        include MonotonicClock

        # Seconds after which the error is raised. A call that has waited for its timeout is not made again.
        LONGEST = 1
        # Seconds between two attempts.
        PAUSE = 0.001..0.01
        private_constant :LONGEST, :PAUSE

        # @param error [StandardError]
        # @return [Boolean] has the database undone a transaction?
        def self.undone?(error)
          error.is_a?(ActiveRecord::TransactionRollbackError) ||
            (defined?(::SQLite3::BusyException) && error.cause.is_a?(::SQLite3::BusyException))
        end

        private

        # Replaces that of {Raising}.
        def failsafe(method, **options)
          since = monotonic_now
          begin
            super
          rescue ActiveRecord::ActiveRecordError => error
            raise if !Again.undone?(error) || monotonic_now - since > LONGEST || part_of_another?

            sleep(rand(PAUSE))
            retry
          end
        end

        # @return [Boolean] has the application opened a transaction? The database may have undone that, too
        def part_of_another?
          ActiveRecord::Base.connection_handler.connection_pool_list(:all)
                            .any? { |pool| pool.active_connection?&.transaction_open? }
        end
      end
      private_constant :Again

      # Solid Cache, on whatever database.
      class SolidCache < Server
        def initialize(store, own)
          super
          @store.extend(Again)
        end

        def errors
          [ActiveRecord::ActiveRecordError]
        end

        def refused?(error)
          Again.undone?(error)
        end

        # The client of PostgreSQL has no timeout.
        def hung_after
          5
        end

        def servers
          Servers.of_solid_cache(@store.shard_options&.map(&:to_sym))
        end

        def several?
          @store.connections.names.size > 1
        end

        def matches?(_pattern)
          false
        end

        def at_once?
          !several?
        end

        def find(keys, names, _raw)
          by_key(keys, @store.send(:read_serialized_entries, names).values_at(*names))
        end
      end
    end
  end
end
