# frozen_string_literal: true

require "json"
require_relative "../contenders/own_place"
require_relative "../errors"
require_relative "visitors"

module Larder
  module Lab
    module Sessions
      # The recipes application of the published comparison, which boots with one session store in the process that
      # measures it. Its recipes are in MariaDB, as they were there, together with sessions in SQL.
      class Application
        # The application. Only a checkout has it.
        ROOT = File.expand_path("../../../../../examples/recipes", __dir__)
        MISSING = "the application that pages are asked of is not there: a checkout of Larder has it in " \
                  "examples/recipes, the gem larder-lab does not"
        # Each process's own, and the same for all session stores.
        CACHE = ["memory_store", { expires_in: 3600 }].freeze
        # The variable of the server that the published comparison changed.
        QUERY_CACHE = "query_cache_type"

        # The session's middleware as this application has it.
        attr_reader :stack

        # It writes into `dir`. Its database, which all rows share, is in the server at `endpoint`.
        def initialize(store, dir, endpoint)
          raise Unavailable, MISSING unless File.exist?(File.join(ROOT, "config/environment.rb"))

          @place = Contenders::OwnDatabase.new(endpoint, "the database").settle
          url = URI.parse(endpoint["url"]).tap { |uri| uri.path = "/#{@place.name}" }
          boot(store, File.join(dir, "application"), url.to_s)
          store.ready
          config = @application.config
          @stack = Stack.new(config.session_store, config.session_options, @application.env_config)
        end

        # As Rack has it.
        def call(request) = @application.call(request)

        # Goes on with new connections, whose query cache is "ON" or "OFF".
        def query_cache(word)
          base = ActiveRecord::Base
          base.establish_connection(**database, variables: { QUERY_CACHE => word })
          found = base.connection.select_rows("SHOW SESSION VARIABLES LIKE '#{QUERY_CACHE}'").dig(0, 1)
          return if found == word

          raise Unavailable, "its database has no query cache that is #{word.downcase} (MySQL since 8 has none)"
        rescue ActiveRecord::ActiveRecordError => error
          raise Unavailable, "its database has no query cache: #{error.message.lines.first.to_s.strip}"
        end

        private

        def boot(store, storage, place)
          sessions = [store.class.middleware, { key: Stack::KEY, **store.options }]
          ENV.update("RAILS_ENV" => "production", "RECIPES_STORAGE" => storage, "RECIPES_DATABASE" => place,
                     "RECIPES_CACHE_STORE" => JSON.generate(CACHE), "RECIPES_SESSION_STORE" => JSON.generate(sessions))
          require File.join(ROOT, "config/environment")
          @application = Rails.application
        end

        def database
          pool = ActiveRecord.gem_version >= Gem::Version.new("8.1") ? :max_connections : :pool
          { **@place.database, pool => Store::POOL }
        end
      end
    end
  end
end
