# frozen_string_literal: true

require_relative "memcached_store"

module Larder
  module Lab
    module Contenders
      # memcached by its meta protocol, which replaces the binary one that dalli speaks unless told otherwise; from
      # version 5 on dalli speaks nothing else.
      class MemcachedMetaStore < MemcachedStore
        named "memcached-meta", "memcached through :mem_cache_store and dalli, by the meta protocol"
        needs_gem "dalli", ">= 3.0.1"
        needs_server "memcached"
        only_on_request

        private

        def load_code
          super
          return if Gem::Version.new(Dalli::VERSION) < Gem::Version.new("5.0.a")

          raise Unavailable, "dalli #{Dalli::VERSION} speaks nothing but the meta protocol: see the row memcached"
        end

        def client_options
          { protocol: :meta }
        end
      end
    end
  end
end
