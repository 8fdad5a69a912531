# frozen_string_literal: true

# Opens the remote store alone, or Larder's store with the remote store behind it. Only in worker processes.

require_relative "../errors"

module Larder
  module Lab
    module Layered
      # Ways to use a store that several machines share.
      module Arrangement
        # By the names that keys of measures have; what stands in tables.
        TITLES = { "bare" => "%s alone", "copies" => "Larder over %s", "backplane" => "the same, backplane" }.freeze
        NAMES = TITLES.keys.freeze
        # Seconds that a machine has to hear of the others.
        PATIENCE = 10
        # Bytes of a machine's file.
        SIZE = 64 << 20
        # By remote store: what config.cache_store takes, from the address.
        REMOTES = { "redis" => ->(url) { [:redis_cache_store, { url: url, reconnect_attempts: 0 }] },
                    "memcached" => ->(url) { [:mem_cache_store, url, {}] } }.freeze

        module_function

        # @param place [Hash{String=>Object}] arrangement, remote (a key of {REMOTES}), url, backplane_url, path of the
        #   machine's file, expires (local_expires_in)
        # @return [ActiveSupport::Cache::Store]
        # @raise [Unavailable]
        def open(place)
          require "active_support/cache/larder_store"
          ActiveSupport::Cache.format_version = 7.1
          remote = uncompressed(REMOTES.fetch(place["remote"]).call(place["url"]))
          return bare(remote) if place["arrangement"] == "bare"

          ActiveSupport::Cache::LarderStore.new(place["path"], size: SIZE, remote: remote, error_handler: method(:fail),
                                                               local_expires_in: place["expires"], **told_by(place))
                                           .tap { |store| join(store, place) }
        rescue LoadError => error
          raise Unavailable, "#{place["remote"]}: #{error.message}"
        end

        def uncompressed((name, *arguments, options))
          [name, *arguments, { **options, compress: false }]
        end

        # Without a handler dalli and redis would answer a failure by a miss.
        def bare((name, *arguments, options))
          options = { **options, error_handler: method(:fail) } if name == :redis_cache_store
          ActiveSupport::Cache.lookup_store(name, *arguments, options)
        end

        def told_by(place)
          place["arrangement"] == "backplane" ? { backplane: place["backplane_url"] } : {}
        end

        # The first call starts listening.
        def join(store, place)
          store.read("joined")
          return unless place["arrangement"] == "backplane"

          limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + PATIENCE
          until store.cache.trusted?
            raise Invalid, "its backplane is silent" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > limit

            sleep 0.005
          end
        end

        # A miss that is none would be a figure about nothing.
        def fail(method:, exception:, **)
          raise Invalid, "#{method} failed: #{exception.message}"
        end
        private_class_method :uncompressed, :bare, :told_by, :join, :fail
      end
    end
  end
end
