# frozen_string_literal: true

# Finds the cache that a dashboard shows, and keeps its file open. Never creates or replaces a file.

require_relative "../bytes/absence"
require_relative "../bytes/obstacle"
require_relative "../bytes/remedy"
require_relative "../sessions/settings"
require_relative "problem"

module Larder
  class Dashboard
    # The file of a cache, opened a second time: the calls of the dashboard are not those of the application, and a file
    # that is not there stays so. The mapping is the same.
    # @api private
    class Source
      # Reads without counting that as reads.
      Uncounted = Struct.new(:cache) do
        # @return [String, nil]
        def get(key)
          cache.item_with_value(key)&.last
        end
      end
      private_constant :Uncounted

      # @param given [Object, nil] see Settings#cache
      def initialize(given)
        @given = given
        @lock = Mutex.new
      end

      # @return [ActiveSupport::Cache::LarderStore, nil] nil: the file is that of a path or of a Larder::Cache
      # @raise [Problem] Rails.cache is another store, or is not there
      def store
        return if file?

        found = @given || rails_cache
        return found if larders?(found)

        name = @given ? "The cache" : "Rails.cache"
        raise Problem.new("There is no Larder store", "#{name} is #{found.class}, not a Larder store.",
                          "config.cache_store = :larder_store")
      end

      # @return [Boolean] is it a file without a store, that of a path or of a Larder::Cache?
      def file?
        [String, Pathname, Larder::Cache].any? { |type| @given.is_a?(type) }
      end

      # @return [String] absolute
      # @raise [Problem] as {store}
      def path
        case @given
        when String, Pathname then ::Larder::Application.absolute(@given.to_s)
        when Larder::Cache then @given.path
        else store.cache.path
        end
      end

      # @return [String, nil] with which keys of the store begin, as "shop:"; nil: it has none, it is computed for each
      #   call, or there is no store
      def namespace
        found = store&.options&.fetch(:namespace, nil)
        "#{found}:" if found.is_a?(String) || found.is_a?(Symbol)
      end

      # @return [Cache] opened with create: false
      # @raise [Problem] why it cannot be shown
      def cache
        found = path
        check(found)
        @lock.synchronize { watched(found).cache }
      rescue OpenError => error
        raise Problem.new("The cache cannot be opened", error.message, command("doctor"), status: 503)
      rescue SystemCallError => error
        raise unseen(found, error)
      end

      # @return [Boolean] does the file hold an application's sessions?
      def sessions?
        !Sessions::Settings.read(Uncounted.new(cache)).nil?
      end

      # @param name [String] of the command line
      # @return [String] the command for this file
      def command(name)
        "larder #{name} #{Remedy.quoted(path)}"
      end

      private

      def rails_cache
        ::Larder::Application.cache
      rescue ::ArgumentError
        raise Problem.new("There is no cache", "There is no Rails.cache, and the dashboard was given no other.",
                          'Larder::Dashboard.new(cache: "cache.larder")')
      end

      def larders?(found)
        defined?(ActiveSupport::Cache::LarderStore) && found.is_a?(ActiveSupport::Cache::LarderStore)
      end

      def check(found)
        File.lstat(found)
        foreign(found) unless !File.exist?(found) || Obstacle.usable?(found)
      rescue Errno::ENOENT
        forget
        raise absent(Absence.of(found, @given.is_a?(Larder::Cache) ? @given : store&.cache))
      rescue SystemCallError => error
        raise unseen(found, error)
      end

      def absent(error)
        return Problem.new("There is no file yet", error.message) if error.is_a?(Absence::NotUsed)

        Problem.new("The cache has no file", error.message, command("doctor"), status: 503)
      end

      def unseen(found, error)
        Problem.new("The file cannot be seen", Obstacle.at(found) || error.message, command("doctor"), status: 503)
      end

      def foreign(found)
        owner = File.stat(found).uid
        raise Problem.new("The cache belongs to another user",
                          "#{Remedy.shown(found)} belongs to #{Remedy.user(owner)}, and this process runs as " \
                          "#{Remedy.user(Process.euid)}.", Remedy.as_user(owner, command("doctor")), status: 503)
      end

      def watched(found)
        return @watched if @watched && @watched_path == found

        @watched&.close
        @watched = Inspection::WatchedFile.new(found)
        @watched_path = found
        @watched
      end

      def forget
        @lock.synchronize do
          @watched&.close
          @watched = nil
        end
      end
    end
  end
end
