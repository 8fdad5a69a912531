# frozen_string_literal: true

# memcached as a second level.

require "larder/codecs/reports"
require "larder/remote/addresses"
require "larder/remote/adapters/server"
require "larder/remote/servers"

module Larder
  module Remote
    module Adapters
      # MemCacheStore.
      #
      # With failover, Dalli's default, a key of a server that does not answer goes to another one, and so does its
      # delete. The first has the old value when it is back. Without, an error says so.
      class Memcached < Server
        # Before Ruby 3.2, Dalli waits without end for a server that hangs, with the protocol :meta.
        META = IO.method_defined?(:timeout=)
        # The address of a server with a password. The protocol :meta has no passwords.
        PASSWORD = %r{\Amemcached://[^/]*@}
        BINARY = "remote: of LarderStore is a MemCacheStore with Dalli's binary protocol. After a Timeout around " \
                 "another call of its connections it may answer with the value of another key; give LarderStore " \
                 "connections of its own: remote: [:mem_cache_store, …#{", { protocol: :meta }" if META}]".freeze
        private_constant :META, :PASSWORD, :BINARY

        # After an error Dalli does not try a server again for 30 seconds. A single one has a CircuitBreaker.
        def self.defaults(addresses, options)
          given = addresses.flatten.compact
          given = [ENV.fetch("MEMCACHE_SERVERS", "")] if given.empty?
          servers = given.grep(String).flat_map { |text| text.split(",") }
          passwords = options[:username] || ENV["MEMCACHE_USERNAME"] || servers.grep(PASSWORD).any?
          { failover: false, **(META && !passwords ? { protocol: :meta } : {}),
            **(servers.size > 1 ? {} : { down_retry_delay: 1 }) }
        end

        # Dalli looks at the addresses when it makes the ring.
        def self.check(store, _options)
          store.instance_variable_get(:@data).with { |client| client.send(:ring) }
        end

        # @raise [ArgumentError] with failover among several servers, or if an address is none
        def initialize(store, own)
          super
          @data = @store.instance_variable_get(:@data)
          ring = client { |client| ring_of(client) }
          refuse_failover(ring)
          report_binary(ring.servers.first, own)
          @data = hold(:@data)
        end

        def errors
          [Dalli::DalliError, ConnectionPool::Error, ConnectionPool::TimeoutError]
        end

        # Dalli raises a RingError also where its second attempt finds that the server is down.
        def refused?(error)
          error.is_a?(Dalli::DalliError) && [Dalli::NetworkError, Dalli::RingError].none? { |type| error.is_a?(type) }
        end

        def servers
          client { |client| Servers.of_memcached(client) }
        end

        def several?
          client { |client| client.send(:ring).servers.size > 1 }
        end

        def matches?(_pattern)
          false
        end

        # It counts whole seconds, and takes 0 for never.
        def ttl(seconds)
          [seconds.ceil, 1].max
        end

        # Dalli answers without the keys of servers that do not answer.
        #
        # @raise [Dalli::RingError] all that would be found is on such servers
        def find(keys, names, _raw)
          found = client do |client|
            client.get_multi(names).tap do |values|
              names.each { |name| client.send(:ring).server_for_key(name) } if values.empty?
            end
          end
          by_key(keys, found.values_at(*names))
        end

        # Dalli closes the connection of a server that did not answer.
        #
        # @raise [Dalli::RingError, Dalli::NetworkError]
        def find_whole(keys, names, _raw)
          client do |client|
            servers = names.map { |name| client.send(:ring).server_for_key(name) }
            found = client.get_multi(names)
            if found.size < names.size && !servers.all?(&:connected?)
              raise Dalli::NetworkError, "a server has not answered a read of many keys"
            end

            by_key(keys, found.values_at(*names))
          end
        end

        private

        def client(&block)
          @data.with(&block)
        end

        # The ring of a store that the application has made.
        def ring_of(client)
          client.send(:ring)
        rescue Dalli::DalliError => e
          message = Addresses.hide(e.message, client.instance_variable_get(:@normalized_servers))
          raise ::ArgumentError, "remote: of LarderStore is a MemCacheStore with an address that Dalli refuses: " \
                                 "#{message}; it takes host:port or memcached://user:password@host:port", cause: nil
        end

        def refuse_failover(ring)
          return unless ring.servers.size > 1 && ring.instance_variable_get(:@failover)

          raise ::ArgumentError, "remote: of LarderStore is a MemCacheStore of several servers with failover, so " \
                                 "what was deleted is there again when its server is back; give it failover: false"
        end

        # Where there is a better one, or others use the connections.
        def report_binary(server, own)
          return if server.class.name.end_with?("::Meta") || (own && (!META || server.require_auth?))

          Reports.report(RemoteError.new(BINARY), source: Reports::STORE)
        end

        # Its servers stay as they are: one that is down is not tried again before its time.
        def close(client)
          client.send(:ring).servers.each do |server|
            release(server)
            server.close
          end
        end

        # Dalli takes the locks of all servers before it reads many keys. If it is interrupted there, it keeps them.
        def release(server)
          loop { server.unlock! } if server.is_a?(Dalli::Threadsafe)
        rescue ThreadError
          nil # this thread has it no longer
        end
      end
    end
  end
end
