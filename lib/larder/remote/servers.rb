# frozen_string_literal: true

# Tells which servers a store uses, from its client or its configuration, without asking a server.

require "larder/remote/addresses"

module Larder
  module Remote
    # The methods `of_…` answer a String that is the same for the same servers, or nil if they cannot tell. No answer
    # has a password. The order of servers does not matter, as clients place keys by the names of servers.
    # @api private
    module Servers
      # The parts of a database's configuration that say which one it is.
      DATABASE = %i[adapter host port socket database].freeze
      private_constant :DATABASE

      module_function

      # @param adapter [Adapters::Any]
      # @param given [ActiveSupport::Cache::Store, Symbol, Array] what `remote:` of LarderStore is
      # @param id [String, nil] names the servers
      # @return [String]
      # @raise [ArgumentError] there is no id, and the servers are not known
      def identity(adapter, given, id)
        refuse_block(given, adapter.store) unless id
        "#{adapter.store.class.name} #{id || adapter.servers || refuse(adapter.store)}"
      rescue *adapter.errors => e
        refuse(adapter.store, ": #{Addresses.hide(e.message, given)}")
      end

      # A block may connect, and may answer another server each time.
      #
      # @param given [ActiveSupport::Cache::Store, Symbol, Array] as of .identity
      # @param store [ActiveSupport::Cache::Store] made of it
      # @raise [ArgumentError] its client comes from a block
      def refuse_block(given, store)
        options = given.is_a?(Array) ? given.last : nil
        refuse(store) if options.is_a?(Hash) && options[:redis].is_a?(Proc)
      end

      def refuse(store, why = "")
        raise ::ArgumentError, "remote: of LarderStore is a store (#{store.class.name}) whose servers are not " \
                               "known before it connects#{why}. Name them, and give others another name: " \
                               "remote_id: \"cache servers 1\"", cause: nil
      end

      # @param client [Redis, Redis::Distributed, Redis::Cluster, RedisClient, RedisClient::Pooled,
      #   RedisClient::HashRing, RedisClient::Cluster, Object]
      # @return [String, nil]
      def of_redis(client)
        client = client._client if client.respond_to?(:_client)
        nodes = client.respond_to?(:nodes) ? client.nodes : [client] # RedisClient is its own node
        if nodes.none?(client) then joined(nodes.map { |node| of_redis(node) })
        elsif client.respond_to?(:config) then of_redis_config(client.config)
        elsif client.respond_to?(:options) then of_old_redis(client.options)
        end
      end

      # @param config [RedisClient::Config, RedisClient::SentinelConfig, RedisClient::ClusterConfig]
      # @return [String, nil]
      def of_redis_config(config)
        return joined(config.startup_nodes.keys) if config.respond_to?(:startup_nodes)
        return if %i[sentinel? path host port db].any? { |part| !config.respond_to?(part) }
        return of_redis_place(config.path, config.host, config.port, config.db) unless config.sentinel?

        # Its host would be asked for.
        "#{config.name}/#{config.db} of #{joined(config.sentinels.map { |sentinel| of_redis_config(sentinel) })}"
      end

      # @param options [Hash] of a client of the gem redis before 5
      # @return [String, nil] nil: a Sentinel's, which changes them when it connects
      def of_old_redis(options)
        place = options.values_at(:path, :host, :port, :db)
        of_redis_place(*place) unless options[:sentinels] || place.first(2).none?
      end

      def of_redis_place(path, host, port, database)
        check_port(port) unless path
        "#{path || "#{host.downcase}:#{port}"}/#{database.to_i}"
      end

      # @param client [Dalli::Client]
      # @return [String]
      def of_memcached(client)
        servers = client.send(:ring).servers.map do |server|
          check_port(server.port) unless server.socket_type == :unix
          "#{server.name.downcase}:#{server.weight}"
        end
        namespace = client.instance_variable_get(:@options).to_h[:namespace]
        "#{joined(servers)}#{" #{namespace.respond_to?(:call) ? namespace.call : namespace}" if namespace}"
      end

      def check_port(port)
        wrong = Addresses.wrong_port(port)
        raise ::ArgumentError, "remote: of LarderStore is a store on a server; #{wrong}" if wrong
      end

      # Its classes are not loaded yet when an application boots. So this is what it will connect to.
      #
      # @param names [Array<Symbol>, nil] of shards; nil: all
      # @return [String, nil] nil: there is no Rails application
      def of_solid_cache(names)
        application = Rails.application or return
        require "active_record/database_configurations"
        databases = ActiveRecord::DatabaseConfigurations.new(application.config.database_configuration)
        settings = SolidCache.configuration.connects_to.to_h
        shards = settings[:shards] || { default: settings[:database] || {} }
        shards = shards.slice(*names) if names
        joined(shards.map do |name, roles|
          "#{name}=#{of_database(databases, roles[:writing] || roles.values.first)}"
        end)
      end

      # @param given [Symbol, Hash, nil] as of connects_to; nil: the application's own
      def of_database(databases, given)
        name = (given || "primary").to_s
        found = given.is_a?(Hash) ? given : databases.configs_for(env_name: Rails.env, name: name)
        found ||= databases.find_db_config(Rails.env) unless given
        found = found.configuration_hash if found.respond_to?(:configuration_hash)
        found ? found.symbolize_keys.slice(*DATABASE).to_a.join(" ") : given
      end

      # @param places [Array<String, nil>]
      # @return [String, nil]
      def joined(places)
        places.sort.join(",") if places.any? && places.all?
      end
      private_class_method :refuse, :of_redis_config, :of_old_redis, :of_redis_place, :check_port, :of_database,
                           :joined
    end
  end
end
