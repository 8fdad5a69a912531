# frozen_string_literal: true

# Checks the options of sessions, and makes a Repository with its backend of them.

require "pathname"
require_relative "../bytes/application"
require_relative "../codecs/reports"
require_relative "../bytes/size"
require_relative "errors"
require_relative "format"
require_relative "identity"
require_relative "lifetimes"
require_relative "repository"
require_relative "sign_in_hint"

module Larder
  module Sessions
    # The options of sessions.
    class Configuration
      # The names of default files, see Application.file: of sessions, and of copies of those that machines share and
      # of changes that their store has not got.
      FILE = "sessions.larder"
      COPIES = "session_copies.larder"
      # Bytes of that file.
      SIZE = 64 << 20
      # Seconds without a use after which a session ends.
      IDLE = 30 * 86_400
      # The same for anonymous sessions.
      ANONYMOUS = 86_400
      # The most sessions of a user.
      PER_USER = 50
      LOSSES = "say what a loss of the file may cost: backed_by: a store that has a copy of each session, as " \
               ":redis_cache_store, or ephemeral: true where everybody may sign in again"
      # Wrong letters with which a misspelled option is still recognized, unless it is short.
      TYPOS = 2
      SHORT = 4
      # Options of the cookie. Rack has more, with similar names.
      COOKIE = %i[domain expire_after httponly partitioned same_site secure].freeze
      # Values of same_site: that Rack takes.
      SAME_SITE = [nil, false, true, :none, :None, "None", :lax, :Lax, "Lax", :strict, :Strict, "Strict"].freeze
      # Option names of other session stores, with the names here.
      MEANT = {
        "expire_after: for the cookie and the session, or idle_timeout: for the session alone" =>
          %w[expires_in expire_in expires_after expiry ttl timeout timeout_in lifetime session_timeout
             session_lifetime],
        "max_lifetime:"                                                      => %w[max_life absolute_timeout],
        "idle_timeout:"                                                      => %w[idle],
        "cache: a store of ActiveSupport's, as [:redis_cache_store, { url: ... }], or backed_by: the same" =>
          %w[store cache_store adapter server servers redis redis_server redis_url url memcache_server memcache],
        "cache: a store of ActiveSupport's, made with it"                    => %w[namespace key_prefix prefix pool
                                                                                   pool_size],
        "file:"                                                              => %w[filename file_path database],
        "size:"                                                              => %w[max_size file_size memory],
        "per_user:"                                                          => %w[max_sessions sessions_per_user],
        "user:"                                                              => %w[user_id user_key]
      }.freeze
      private_constant :LOSSES, :TYPOS, :SHORT, :SAME_SITE, :MEANT

      # @param file [String, Pathname, nil] where sessions are kept, in a file of their own
      # @param size [Integer, String, nil] bytes of that file when it is created, also as "64MB"; signed-in sessions
      #   may use two thirds of it
      # @param backed_by [ActiveSupport::Cache::Store, Symbol, Array, nil] a store, or what `config.cache_store` takes:
      #   each session is also written to it, and read from it after a loss of the file. For exactly one machine
      # @param ephemeral [Boolean, nil] in production, sessions may be lost with the file
      # @param cache [ActiveSupport::Cache::Store, Symbol, Array, nil] a store that has the sessions instead of a file
      # @param backplane [String, Hash, Array, nil] a Redis, Valkey or PostgreSQL by its URL, or as LarderStore takes
      #   it. By it machines tell each other which copies of the sessions in `cache:` are old. The copies are in a file
      #   on each machine, see `file:` and `size:`. Redis, memcached and Solid Cache have a file without it, too, of
      #   changes that they have not got
      # @param cache_id [String, nil] names the servers of `cache:`, where they are not known before it connects, as
      #   those of `redis: -> { … }`; another text for other servers
      # @param serializer [Symbol, nil] :json, :hybrid or :marshal, see {Format}; nil: :json, see {Format.default}
      # @param migrate_from [Symbol, Array, Class, #find_session, #call, nil] the store that had the sessions before:
      #   :cookie_store, :cache_store, :mem_cache_store or :active_record_store, with options as in [:cache_store,
      #   { cache: }], a middleware, or a lambda that returns a Hash or nil for a request and an id; see {Migration}
      # @param idle_timeout [Numeric, nil] seconds without a use after which a session ends; nil: never
      # @param anonymous_timeout [Numeric, nil] the same for anonymous sessions, never longer; nil: as idle_timeout
      # @param max_lifetime [Numeric, nil] seconds after its beginning at which a session ends; nil: never
      # @param per_user [Integer, nil] the most sessions of a user; the oldest end first; nil: as many as an entry of
      #   the file can name, 1000 in a file of 64 MiB
      # @param user [#call, Hash, Symbol, String, nil] how to find who is signed in, see {Identity.finder}
      # @param on_full [#call, nil] returns the Rack response for a request in which {NoRoomError} is raised: an
      #   ActionDispatch::Request in Rails, otherwise a Rack::Request; nil: 503
      # @raise [InvalidArgument] naming the option
      def initialize(file: nil, size: nil, backed_by: nil, ephemeral: nil, cache: nil, cache_id: nil,
                     backplane: nil, serializer: nil, idle_timeout: IDLE, anonymous_timeout: ANONYMOUS,
                     max_lifetime: nil, per_user: PER_USER, user: nil, migrate_from: nil, on_full: nil)
        check_place(file, cache, backed_by, backplane)
        check_cache_id(cache_id, cache)
        @file = name_of_file(file)
        @size = size.nil? ? SIZE : bytes(:size, size)
        @backed_by = backed_by
        @ephemeral = switch(:ephemeral, ephemeral)
        @cache = cache
        @cache_id = cache_id
        @backplane = backplane
        @migrate_from = migrate_from
        @format = serializer.nil? ? Format.default : Format.fetch(serializer)
        @user = Identity.finder(user)
        @hint = SignInHint.new(self.class.method(:report)) unless user
        @per_user = count(:per_user, per_user)
        @on_full = callable(:on_full, on_full)
        @lifetimes = Lifetimes.new(idle: Lifetimes.seconds(:idle_timeout, idle_timeout),
                                   anonymous: Lifetimes.seconds(:anonymous_timeout, anonymous_timeout),
                                   max: Lifetimes.seconds(:max_lifetime, max_lifetime))
      end

      # @return [#call, nil] see {#initialize}
      attr_reader :on_full

      # @return [String, nil] absolute path of the file that has the sessions; nil: the store of cache: has them
      def file
        path unless @cache
      end

      # @param path [String] of the file, where one keeps sessions
      # @return [Repository] its file is opened or created at the first use
      # @raise [InvalidArgument] in production, without backed_by: or ephemeral: true
      # @raise [OpenError] a file cannot have that size
      def repository(path = self.path)
        Repository.new(backend: @cache ? on_store : on_file(path), format: @format, lifetimes: @lifetimes, user: @user,
                       per_user: @per_user, hint: @hint, migrating: !@migrate_from.nil?,
                       report: self.class.method(:report))
      end

      # @param key [String] name of the cookie
      # @return [Migration, nil] nil: sessions are moved from nowhere
      # @raise [InvalidArgument]
      def migration(key)
        return if @migrate_from.nil?

        require_relative "migration"
        Migration.new(@migrate_from, key: key, report: self.class.method(:report))
      end

      # Larder's options. All others (key, expire_after, secure, ...) are those of Rack and Rails.
      OPTIONS = instance_method(:initialize).parameters.map(&:last).freeze

      # Separates Larder's options from the others. If the cookie has a lifetime, an unused session has the same.
      #
      # @param options [Hash] Larder's, and Rack's or Rails' own
      # @return [Array(Hash, Hash)] Larder's with Symbols as keys, and the others
      def self.split(options)
        own, others = options.partition { |name, _| OPTIONS.include?(name.to_sym) }.map(&:to_h)
        others.each_key { |name| check_name(name) }
        check_same_site(others[:same_site])
        life = Lifetimes.of_cookie(others)
        [{ **(life ? { idle_timeout: life, anonymous_timeout: life } : {}), **own.transform_keys(&:to_sym) }, others]
      end

      # @return [String] cookies are asked for by Strings
      # @raise [InvalidArgument]
      # @api private
      def self.name_of_cookie(given)
        return given.to_s if (given.is_a?(String) || given.is_a?(Symbol)) && !given.empty?

        raise InvalidArgument, "key: #{given.inspect} is no name of a cookie"
      end

      # Rack raises for other values when it sends a cookie, in each response.
      def self.check_same_site(given)
        return if SAME_SITE.include?(given) || given.respond_to?(:call)

        raise InvalidArgument, "same_site: #{given.inspect} is not one of :lax, :strict, :none and nil (no SameSite)"
      end
      private_class_method :check_same_site

      # An unknown option may be Rack's and is accepted. A name of another store, or a misspelled one, is refused.
      def self.check_name(name)
        here, = MEANT.find { |_, names| names.include?(name.to_s) }
        raise InvalidArgument, "#{name}: is no option of sessions; say #{here}" if here

        return unless defined?(DidYouMean::Levenshtein) && name.length > SHORT

        meant = near(OPTIONS, name, TYPOS) || (near(COOKIE, name, 1) unless COOKIE.include?(name.to_sym))
        raise InvalidArgument, "#{name}: is no option of sessions; did you mean #{meant}:?" if meant
      end
      private_class_method :check_name

      # @return [Symbol, nil]
      def self.near(options, name, typos)
        options.find { |option| DidYouMean::Levenshtein.distance(option.to_s, name.to_s) <= typos }
      end
      private_class_method :near

      # @param error [Error] that does not stop the request
      # @return [void]
      def self.report(error)
        Reports.report(error, source: "larder.sessions")
      end

      private

      def on_file(path)
        raise InvalidArgument, "In production, #{LOSSES}." if production? && !@backed_by && !@ephemeral

        require_relative "backends/unbacked"
        cache = Cache.open(path, size: @size, lazy: :required, size_from: Application.calling_line(:session_store))
        @backed_by ? backed(cache) : Backends::Unbacked.new(cache)
      end

      def backed(cache)
        require_relative "backends/backed"
        Backends::Backed.new(cache, adapter(:backed_by, @backed_by), report: self.class.method(:report),
                                                                     request: Sessions.method(:request),
                                                                     shared_by: option_of_several_machines)
      end

      def option_of_several_machines
        return "cache: [:#{[@backed_by].flatten(1).first}, { ... }] with the same options" if shared?(@backed_by)

        "cache: a store that all of them reach, as [:redis_cache_store, { url: ... }]"
      end

      def check_place(file, cache, backed_by, backplane)
        raise InvalidArgument, "cache: is a store already; backed_by: stands behind a file" if cache && backed_by

        if backplane && !cache
          raise InvalidArgument, "backplane: is for sessions that machines share by cache:, which is missing"
        elsif file && cache && !backplane && !shared?(cache)
          raise InvalidArgument, "file: and cache: exclude each other: sessions are kept in one place"
        end
      end

      def check_cache_id(given, cache)
        return if given.nil? || (cache && given.is_a?(String) && !given.strip.empty?)

        raise InvalidArgument, "cache_id: #{given.inspect} is to be a String that names the servers of cache:" if cache

        raise InvalidArgument, "cache_id: names the servers of cache:, which is missing"
      end

      def shared?(cache)
        require_relative "backends/store_builder"
        Backends::StoreBuilder.shared?(cache)
      end

      def on_store
        return on_shared if @backplane || shared?(@cache)

        require_relative "backends/store"
        store = adapter(:cache, @cache).store
        Backends::Store.new(store, Backends::Calls.new(store.class.name, report: self.class.method(:report),
                                                                         request: Sessions.method(:request)))
      end

      def on_shared
        require_relative "backends/store_builder"
        require_relative "backends/shared"
        store = Backends::StoreBuilder.shared(:cache, @cache, path: path(COPIES), size: @size, backplane: @backplane,
                                                                remote_id: @cache_id)
        check_max_age(:cache, store.remote.store)
        Backends::Shared.new(store, copies: !@backplane.nil?, request: Sessions.method(:request))
      end

      def adapter(option, given)
        require_relative "backends/store_builder"
        Backends::StoreBuilder.adapter(option, given).tap { |adapter| check_max_age(option, adapter.store) }
      end

      # Solid Cache deletes entries by the time of their first write, whenever they expire.
      def check_max_age(option, store)
        age = store.max_age if store.respond_to?(:max_age)
        return if age.nil? || (@lifetimes.max && age > @lifetimes.max)

        self.class.report(MaxAgeError.new(option, store, age))
      end

      def path(name = FILE)
        Application.absolute(@file || Application.own(Application.file(name)))
      end

      def production?
        Application.environment == "production"
      end

      def bytes(name, given)
        Size.parse(given, "#{name}:")
      rescue ::ArgumentError => error
        raise InvalidArgument, error.message
      end

      def switch(name, given)
        return given if [true, false, nil].include?(given)

        raise InvalidArgument, "#{name}: #{given.inspect} is neither true nor false"
      end

      def name_of_file(given)
        return if given.nil?

        if given.is_a?(String) || given.is_a?(Pathname)
          wrong = Application.objection(given.to_s)
          return given unless wrong

          raise InvalidArgument, "file: #{wrong}"
        end

        raise InvalidArgument, "file: #{given.inspect} is no path: a String or a Pathname"
      end

      def callable(name, given)
        return given if given.nil? || given.respond_to?(:call)

        raise InvalidArgument, "#{name}: #{given.inspect} cannot be called: give a lambda that takes the request and " \
                               "answers [status, headers, body]"
      end

      def count(name, given)
        return given if given.nil? || (given.is_a?(Integer) && given.positive?)

        raise InvalidArgument, "#{name}: #{given.inspect} is no number above 0"
      end
    end
  end
end
