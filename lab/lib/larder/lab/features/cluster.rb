# frozen_string_literal: true

# Tests whether a store spreads its keys over several servers.

require "active_support"
require "active_support/cache"

module Larder
  module Lab
    module Features
      # A store over two servers, and each of the two by itself.
      module Cluster
        # Keys written.
        COUNT = 100
        # The arguments of a store of each kind for several servers.
        FORMS = { mem_cache_store: ->(urls) { [*urls] }, redis_cache_store: ->(urls) { [{ url: urls }] } }.freeze

        module_function

        # @param kind [Symbol] as `config.cache_store` takes it
        # @param urls [Array<String>]
        # @return [Array(Object, String)] answer and note
        def try(kind, urls)
          form = FORMS[kind.to_sym]
          return ["not tested", "it takes no list of servers"] unless form

          store = ActiveSupport::Cache.lookup_store(kind, *form.call(urls))
          COUNT.times { |i| store.write("spread-#{i}", i) }
          all = held(store)
          each = urls.map { |url| held(ActiveSupport::Cache.lookup_store(kind, *form.call([url]))) }
          spread = all == COUNT && each.sum == COUNT && each.all?(&:positive?)
          [spread, "of #{COUNT} keys over two servers #{each.join(" and ")} are on each"]
        end

        def held(store)
          (0...COUNT).count { |i| store.read("spread-#{i}") == i }
        end
        private_class_method :held
      end
    end
  end
end
