# frozen_string_literal: true

# Finds the files of a Rails application's cache and sessions in its configuration, for bin/rails larder:stat and the
# like. Opens none.

require "larder"
require "larder/sessions/configuration"

module Larder
  # @api private
  class ConfiguredFiles
    # The name of Larder's sessions in Rails' configuration.
    SESSIONS = "ActionDispatch::Session::LarderStore"
    private_constant :SESSIONS

    # @yield [initializers] loads the application's configuration
    # @yieldparam initializers [Boolean] also its initializers, which may configure the sessions
    def initialize(&load)
      @load = load
    end

    # @param _variable [String] of the environment; the store reads it if its configuration has no path
    # @param name [String] of the default file, which tells a cache from sessions
    # @return [Array(String, String, String)] absolute path, why it is this one, and a sentence about a store behind it,
    #   or nil
    # @raise [Error] the application has no such file
    def find(_variable, name, _kind)
      return sessions if name == Sessions::Configuration::FILE

      @load.call(false)
      store = Application.cache
      not_larders(store) unless defined?(ActiveSupport::Cache::LarderStore) &&
                                store.is_a?(ActiveSupport::Cache::LarderStore)
      @cache = store.cache
      [@cache.path, "the file of config.cache_store", (behind(store.remote) if store.remote)]
    end

    # @return [Boolean] as of {CLI::DefaultFile}
    def within_application?
      true
    end

    # @param path [String]
    # @return [Integer, nil] bytes of a new file there; nil: it is not the one of config.cache_store that was found
    def size_of(path)
      @cache.wanted_size if @cache && path == @cache.path
    end

    private

    def behind(remote)
      "The file has this machine's copies of what is in #{remote.store.class}, which is neither read nor changed here."
    end

    def not_larders(store)
      raise Error, "the cache of the environment #{Application.environment} is #{store.class}, not a Larder store: " \
                   "set config.cache_store = :larder_store, choose another environment by RAILS_ENV, or name a " \
                   "file; for sessions: bin/rails larder:sessions"
    end

    def sessions
      @load.call(true)
      config = Rails.application.config
      configured = config.session_store if config.respond_to?(:session_store)
      no_sessions(configured) unless configured.to_s == SESSIONS
      options, = Sessions::Configuration.split(config.session_options)
      [Sessions::Configuration.new(**options).file || in_store, "the file of config.session_store", nil]
    end

    def no_sessions(configured)
      raise Error, "the sessions of the environment #{Application.environment} are #{configured || "disabled"}, not " \
                   "a Larder store: set config.session_store :larder_store, choose another environment by " \
                   "RAILS_ENV, or name a file by --file"
    end

    def in_store
      raise Error, "the application's sessions are in the store of cache:, not in a file: ask in the application, as " \
                   "by bin/rails runner 'p Larder::Sessions.stats'"
    end
  end
end
