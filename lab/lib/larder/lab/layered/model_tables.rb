# frozen_string_literal: true

# Builds the tables of the model: what a fleet of machines asks of servers.

require_relative "fleet"
require_relative "words"

module Larder
  module Lab
    module Layered
      # Sections about a {Fleet}.
      class ModelTables
        include Words

        EXPIRIES = [1.0, 5.0, 30.0, 60.0].freeze
        CHANGES = [0.0, 0.1, 1.0, 10.0, 100.0].freeze
        RATIOS = [0.0, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999].freeze
        # Connections that Redis takes unless it is told otherwise (maxclients), and PostgreSQL (max_connections).
        REDIS_CLIENTS = 10_000
        POSTGRESQL_CLIENTS = 100

        CONNECTIONS = [["connections to", "text"], ["by", "text"], ["how many", "integer"]].freeze
        LOAD = [["", "text"], ["by files", "percent"], ["reads/s", "rounded"], ["bit/s", "bits"]].freeze
        COPIES = [["copies", "rounded"], ["of bytes", "bytes"]].freeze
        MESSAGES = [["messages/s", "rounded"], ["bit/s of them", "bits"]].freeze

        LOAD_NOTES = "by files: hit ratio of a machine; reads/s, bit/s: of the remote store; copies: in the file " \
                     "of a machine at a time."
        private_constant :LOAD_NOTES

        # @param fleet [Fleet] with a backplane
        def initialize(fleet)
          @fleet = fleet
        end

        # @return [Array<Document::Section>]
        def sections
          [section("#{name}: connections", connections), section("#{name}: load by local_expires_in", by_expiry),
           section("#{name}: load by changes, with a backplane", by_changes),
           section("#{name}: load of a hit ratio that you know", by_ratio)]
        end

        # @return [Array<String>]
        def conclusions
          [held, [first_load, limit].join(" ")]
        end

        private

        def name
          "#{count(@fleet.machines)} machines × #{@fleet.workers}"
        end

        def held
          more = @fleet.remote_connections > REDIS_CLIENTS
          "#{name} processes keep up to #{count(@fleet.remote_connections)} connections to the remote store" \
            "#{"; a Redis takes #{count(REDIS_CLIENTS)} unless maxclients says more" if more}. The backplane has " \
            "#{count(@fleet.listeners)} that listen, and up to #{count(@fleet.publishers)} of processes that change " \
            "something."
        end

        def first_load
          alone = @fleet.reads
          behind = @fleet.remote_reads
          "Of their #{count(alone)} reads a second, files answer #{percent(@fleet.hit_ratio)} by the model, with a " \
            "backplane and #{times(@fleet.changes)} changes a second: #{count(behind)} go to the remote store."
        end

        def limit
          "#{count(@fleet.messages)} messages a second are delivered, #{bits(@fleet.message_traffic)} in all."
        end

        def bits(bytes)
          bytes.zero? ? "none" : Reports::Figures.bits(bytes * 8)
        end

        def connections
          rows = [["remote store", "threads of each process, #{Fleet::POOL} at most", @fleet.remote_connections],
                  ["backplane", "one listener of each machine", @fleet.listeners],
                  ["backplane", "each process that changes something", @fleet.publishers]]
          table(CONNECTIONS, rows, notes: [connection_notes])
        end

        def connection_notes
          idle, busy = %i[idle busy].map { |state| Reports::Figures.bytes(@fleet.connection_bytes(state)) }
          "They are opened when they are first used. Redis takes #{count(REDIS_CLIENTS)} unless maxclients says " \
            "more, PostgreSQL #{POSTGRESQL_CLIENTS} (max_connections). In a Redis they take #{idle} of memory while " \
            "idle, and #{busy} if all have just been used."
        end

        def by_expiry
          rows = EXPIRIES.product([false, true]).map do |expires, backplane|
            fleet = @fleet.with(expires: expires, backplane: backplane)
            [*load(fleet, "#{duration(expires)}#{", backplane" if backplane}"), fleet.copies, fleet.copy_bytes]
          end
          table([*LOAD, *COPIES], rows, notes: [assumptions, LOAD_NOTES])
        end

        def by_changes
          rows = CHANGES.map do |factor|
            fleet = @fleet.with(changes: @fleet.changes * factor)
            [*load(fleet, "#{times(fleet.changes)} changes/s"), fleet.messages, fleet.message_traffic * 8]
          end
          table([*LOAD, *MESSAGES], rows.uniq, notes: ["local_expires_in: #{duration(@fleet.expires)}. messages: " \
                                                       "delivered to all machines together."])
        end

        def load(fleet, words)
          [words, fleet.hit_ratio, fleet.remote_reads, fleet.remote_traffic * 8]
        end

        def by_ratio
          rows = RATIOS.map do |ratio|
            asked = @fleet.reads * (1 - ratio)
            [percent_of(ratio), asked, (asked + @fleet.changes) * (@fleet.bytes + @fleet.key_bytes) * 8,
             asked / @fleet.machines]
          end
          table([["by files", "text"], *LOAD.last(2), ["reads/s of a machine", "number"]],
                rows, notes: ["0 %: the remote store alone."])
        end

        def percent_of(ratio)
          "#{format("%g", ratio * 100)} %"
        end

        def assumptions
          "#{count(@fleet.reads)} reads and #{times(@fleet.changes)} changes a second of #{count(@fleet.keys)} keys " \
            "of #{Reports::Figures.bytes(@fleet.bytes)}, popular by Zipf's law with exponent #{@fleet.skew}, at a " \
            "round trip of #{duration(@fleet.rtt)}."
        end
      end
    end
  end
end
