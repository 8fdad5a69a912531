# frozen_string_literal: true

# The cache whose metrics are read: a store of the application, or a file. Makes no file.

require_relative "../bytes/absence"
require_relative "../bytes/application"
require_relative "../bytes/cache"
require "pathname"

module Larder
  class Metrics
    # Reads the figures of a store through its own cache, and a file through one that it opens.
    # @api private
    class Source
      # Rails.cache is not one of Larder's stores, or is not there.
      class NoStore < ::ArgumentError
      end

      # Keeps a file open between two readings, because opening takes longer than reading. If another file has the path,
      # that one is opened. After an error the file is closed: a cache that was opened before may make a new one.
      class KeptFile
        # @param owner [Cache, nil] that would make the file
        def initialize(owner = nil)
          @owner = owner
          @lock = Mutex.new
          @cache = @identity = nil
        end

        # @param path [String]
        # @yieldparam cache [Cache]
        # @return [Object] the block's value
        # @raise [Error] there is no file, or it cannot be used
        def read(path, &block)
          @lock.synchronize { read_alone(path, &block) }
        end

        # @return [void]
        def close
          @cache&.close
          @cache = @identity = nil
        end

        private

        def read_alone(path)
          now = identity(path)
          close unless now == @identity
          @cache ||= Cache.open(path, create: false)
          @identity = now
          yield @cache
        rescue Error
          close
          raise
        end

        def identity(path)
          status = File.stat(path)
          [path, status.dev, status.ino]
        rescue Errno::ENOENT
          raise Absence.of(path, @owner)
        rescue SystemCallError => e
          raise OpenError, "#{path} cannot be read: #{e.message}"
        end
      end

      # @return [ActiveSupport::Cache::LarderStore, nil] nil: a file
      attr_reader :store

      # @param subject [ActiveSupport::Cache::LarderStore, Cache, String, Pathname, nil] nil: Rails.cache at the time of
      #   each reading
      # @raise [ArgumentError] it is none of these
      def initialize(subject)
        @subject = subject
        @file = KeptFile.new((subject if subject.is_a?(Cache)))
        @journal = KeptFile.new
        take(subject) if subject
      end

      # @return [String] of the file
      # @raise [NoStore] there is no Rails.cache, or it is not one of Larder
      def path
        @store = rails_cache if @subject.nil?
        @store ? @store.cache.path : @path
      end

      # @yieldparam cache [Cache] of the file
      # @return [Object] the block's value
      # @raise [Absence::NotUsed] no process has used the cache yet
      # @raise [Error] the file cannot be used
      def read
        path = self.path
        return @file.read(path) { |cache| yield cache } unless @store
        raise Absence.of(path, @store.cache) unless File.exist?(path)

        yield @store.cache
      end

      # @return [KeptFile] for the journal of a store with `remote:`
      attr_reader :journal

      # @return [void]
      def close
        [@file, @journal].each(&:close)
      end

      private

      def take(subject)
        case subject
        when Cache then @path = subject.path
        when String, Pathname then @path = path_of(subject)
        else @store = store_of(subject)
        end
      end

      def path_of(subject)
        wrong = Application.objection(subject.to_s)
        raise ::ArgumentError, "cache: #{wrong}" if wrong

        Options.path(subject)
      end

      def store_of(subject)
        return subject if larders?(subject)

        raise ::ArgumentError, "metrics are those of a LarderStore or of a file, not of #{subject.class}: set " \
                               "config.cache_store = :larder_store, or give a store or a path as cache:"
      end

      def rails_cache
        found = application_cache
        return found if larders?(found)

        raise NoStore, "Rails.cache is #{found.class}, not a Larder store: set config.cache_store = :larder_store, " \
                       "or give a store or a path as cache:"
      end

      def application_cache
        Application.cache
      rescue ::ArgumentError => e
        raise NoStore, e.message
      end

      def larders?(subject)
        subject.respond_to?(:cache) && subject.cache.is_a?(Cache)
      end
    end
  end
end
