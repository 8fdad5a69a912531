# frozen_string_literal: true

# Solid Cache as a second level.

require "larder/store/remote/adapters/server"
require "larder/store/remote/servers"

module Larder
  module Store
    class Remote
      module Adapters
        # Solid Cache, on whatever database.
        class SolidCache < Server
          def errors
            [ActiveRecord::ActiveRecordError]
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
end
