# frozen_string_literal: true

# Computes what many machines ask of the servers that they share: connections, requests, messages, bytes, memory. Pure
# arithmetic; the test beside it compares it with what a Redis counts under tens of processes.

require_relative "presence"

module Larder
  module Lab
    module Layered
      # Machines with Larder's file in front of a remote store. Reads and changes arrive independently (Poisson), at all
      # machines alike, and keys are as popular as Zipf's law says.
      #
      #   copy is stored                     ended by: local_expires_in, or a change on another machine
      #        |------------- lives -------------|---- nobody reads ----|-- asked --| copy is stored
      #
      # machines; workers: processes of each; threads: of each process that use the remote store at once; reads,
      # changes: a second, of all machines; keys; skew: of Zipf's law; bytes: of an entry; key_bytes; expires:
      # local_expires_in in seconds; backplane: are machines told of changes?; rtt: seconds that the remote store takes.
      Fleet = Struct.new(:machines, :workers, :threads, :reads, :changes, :keys, :skew, :bytes, :key_bytes, :expires,
                         :backplane, :rtt, keyword_init: true) do
        # One value is computed from many: they do not change.
        def initialize(**fields)
          super
          freeze
        end

        # @return [Fleet] the same but for some
        def with(**changes)
          self.class.new(**to_h, **changes)
        end

        # Each process has a pool, and a connection of it for each thread that waits for the remote store.
        # @return [Integer]
        def remote_connections
          machines * workers * [threads, Fleet::POOL].min
        end

        # One process of each machine listens.
        # @return [Integer]
        def listeners
          backplane ? machines : 0
        end

        # Each process that changes something keeps a connection for its messages.
        # @return [Integer]
        def publishers
          backplane && changes.positive? ? machines * workers : 0
        end

        # @return [Float] of a machine's reads, those that its file answers
        def hit_ratio
          sum { |share, present| share * present }
        end

        # @return [Float] a second, that the remote store answers
        def remote_reads
          reads * (1 - hit_ratio)
        end

        # @return [Float] the most that hit ratios can ask: each key by each machine once in local_expires_in
        def most_refreshes
          machines * keys.fdiv(expires)
        end

        # @return [Float] reads and writes a second
        def remote_requests
          remote_reads + changes
        end

        # @return [Float] messages a second that the backplane's server delivers
        def messages
          backplane ? changes.to_f * machines : 0.0
        end

        # Each listener asks its server for an answer once a second.
        # @return [Float] a second
        def pings
          backplane ? machines.to_f : 0.0
        end

        # @return [Integer] bytes of one message on its way to one machine, by Redis' protocol
        def message_bytes
          Fleet::ENVELOPE + (4 * (key_bytes / 3.0).ceil)
        end

        # @return [Float] bytes a second that the backplane's server sends
        def message_traffic
          messages * message_bytes
        end

        # @return [Float] bytes a second of entries, read and written, through the network of the remote store
        def remote_traffic
          remote_requests * (bytes + key_bytes)
        end

        # @return [Float] copies that a machine's file has at a time
        def copies
          sum { |_, present| present }
        end

        # @return [Float] bytes of them
        def copy_bytes
          copies * (bytes + key_bytes + Fleet::OVERHEAD)
        end

        # @param state [Symbol] busy or idle
        # @return [Integer] bytes that the servers need for connections in that state
        def connection_bytes(state)
          (remote_connections + listeners + publishers) * Fleet::CONNECTION.fetch(state)
        end

        private

        # @yieldparam share [Float] of the reads
        # @yieldparam present [Float] see {Presence#under}
        def sum
          own, foreign = of_machine
          Presence.popular(keys, skew).sum do |share, count|
            present = Presence.new(own: own * share, foreign: foreign * share, expires: expires, rtt: rtt)
            count * yield(share, present.under(reads.to_f / machines * share))
          end
        end

        # Changes a second by a machine itself, and by others, if it is told.
        def of_machine
          own = changes.to_f / machines
          [own, backplane ? changes - own : 0.0]
        end
      end

      class Fleet
        # Connections of a process' pool that Rails' RedisCacheStore and MemCacheStore open at most.
        POOL = 5
        # Bytes of a message in addition to its keys: the protocol, the channel, the machine, the kind.
        ENVELOPE = 70
        # Bytes of a copy in the file beside key and value: header, index, expiry, free room of segments. Measured: 40
        # with values of 100 bytes, 150 with those of 2,000.
        OVERHEAD = 150
        # Bytes of a connection in Redis 7, as it counts them (mem_clients_normal): when it has just been used, and
        # after ten seconds without a request.
        CONNECTION = { busy: 27_000, idle: 1800 }.freeze
      end
    end
  end
end
