# frozen_string_literal: true

# Larder's sessions under the names that its peers' tests call: each class of theirs is replaced before their tests are
# loaded.

require "tmpdir"
require "rack/session/larder"
require "rack/session/pool"
require "rack/session/dalli"
require "action_dispatch/middleware/session/larder_store"

module Peers
  # A file of its own for each middleware.
  module OnFile
    DIRECTORY = Dir.mktmpdir("larder-peers-")
    Minitest.after_run { FileUtils.rm_rf(DIRECTORY) }

    # Of Rails' and Dalli's connections to servers.
    OF_SERVERS = %i[memcache_server namespace socket_timeout].freeze

    class << self
      # @return [Larder::Sessions::Middleware] the one that was made last
      attr_accessor :latest

      # @return [Hash] options that the test at hand needs
      attr_accessor :options

      # @return [String] path
      def another
        File.join(DIRECTORY, "#{@files = @files.to_i + 1}.larder")
      end
    end

    def initialize(app, options = {})
      place = options[:cache] ? {} : { file: OnFile.another, size: "2MB" }
      super(app, { **place, **OnFile.options.to_h, **options.except(*OF_SERVERS) })
      OnFile.latest = self
    end

    # @return [Kept] what Rack's and Dalli's tests look into
    def pool
      Kept.new(repository)
    end
  end

  # The sessions that are kept.
  class Kept
    def initialize(repository)
      @repository = repository
    end

    # @return [Integer]
    def size
      Larder::Sessions::Statistics.new(@repository).stats[:sessions]
    end

    # @param id [String] that of the cookie
    # @return [Hash, nil] what the session has
    def get(id, _raw = true)
      @repository.find(Larder::Sessions::Middleware.key(Rack::Session::SessionId.new(id)))&.values
    end
  end

  # A middleware without an application, whose sessions another store finds.
  module FoundBy
    METHODS = %i[load_session session_exists? delete_session].freeze

    # @param middleware [Larder::Sessions::Middleware]
    # @param store [Object] a few methods of a peer's test
    # @return [Larder::Sessions::Middleware]
    def self.let(middleware, store)
      (METHODS & store.methods).each do |name|
        middleware.define_singleton_method(name) { |*arguments| store.public_send(name, *arguments) }
      end
      middleware
    end
  end

  # Rack's session, as requests of Larder's have it.
  class RackValues < Rack::Session::Larder.const_get(:Values)
    def initialize(store, request)
      super(FoundBy.let(Rack::Session::Pool.new(nil), store), request)
    end
  end

  # Makes Rails' session, as requests of Larder's have it.
  module RailsValues
    def self.create(store, request, _options)
      FoundBy.let(ActionDispatch::Session::CacheStore.new(nil), store).prepare_session(request)
    end

    def self.find(request)
      ActionDispatch::Request::Session.find(request)
    end
  end

  # Rails' tests decrypt the cookie. Here the session is looked up by it.
  module LookedUp
    def assert_session_cookie(attributes, contents)
      cookie = parse_set_cookies_headers(headers["Set-Cookie"]).fetch(self.class::SessionKey)
      parse_set_cookie_attributes(attributes).each { |name, value| assert_equal value, cookie[name], name }
      assert_equal contents, OnFile.latest.pool.get(cookie[:value]).slice(*contents.keys)
    end
  end

  # @param place [Module]
  # @param name [Symbol] of a class
  # @param by [Class]
  def self.replace(place, name, by)
    place.const_get(name) # loads it, so that nothing loads it later
    place.send(:remove_const, name)
    place.const_set(name, by)
  end

  # Options that tests change for all.
  def self.middleware(parent)
    Class.new(parent) do
      prepend OnFile
      const_set(:DEFAULT_OPTIONS, parent::DEFAULT_OPTIONS.dup)
    end
  end

  replace(Rack::Session, :Pool, middleware(Rack::Session::Larder))
  replace(Rack::Session, :Dalli, middleware(Rack::Session::Larder))
  replace(Rack::Session::Abstract, :ID, middleware(Rack::Session::Larder))
  replace(Rack::Session::Abstract, :SessionHash, RackValues)
  replace(Rack::Session::Abstract::PersistedSecure, :SecureSessionHash, RackValues)
  %i[CacheStore MemCacheStore CookieStore].each do |name|
    replace(ActionDispatch::Session, name, middleware(ActionDispatch::Session::LarderStore))
  end
end
