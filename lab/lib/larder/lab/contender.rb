# frozen_string_literal: true

require "fileutils"
require_relative "errors"
require_relative "contender_declaration"
require_relative "footprint"

module Larder
  module Lab
    # A store that takes part: how it is opened, emptied and measured from outside. A subclass, in contenders/, says
    # what it needs, see {ContenderDeclaration}, and implements {#open_store}; it overrides {#load_code} where code must
    # be loaded first, and {#clear} where emptying is not `store.clear`.
    class Contender
      # Room that every store gets, where its documentation lets one choose: 256 MB, far more than any run writes.
      SIZE = 256 * 1024 * 1024

      include ContenderDeclaration

      # After {#open}, the ActiveSupport::Cache::Store, and what was given to `lookup_store`, for the record; where its
      # server listens (nil: it has none), see {Server#endpoint}; bytes of room that the store gets.
      attr_reader :store, :recorded, :endpoint, :size

      # @return [String, nil] the last failure that the store has reported
      attr_reader :failure

      # @param dir [String] an empty directory of its own
      # @param endpoint [Hash, nil] where its server listens, see {Server#endpoint}
      # @param threads [Integer] how many threads will use the store at once
      # @param size [Integer] bytes of room that the store gets; a server has its own, see {Server}
      def initialize(dir:, endpoint: nil, threads: 1, size: SIZE)
        @dir = dir
        @endpoint = endpoint
        @threads = threads
        @size = size
        @codecs = {}
        @recorded = {}
      end

      # Activates the gems, loads the code and opens the store.
      # @raise [Unavailable] naming the missing gem and the command that gets it
      def open
        activate_gems
        load_code
        use_current_format
        @store = open_store
        self
      end

      # Has the store use these codecs in place of its own.
      # @param options [Hash] of ActiveSupport::Cache::Store
      def coded_by(**options)
        @codecs = options
        self
      end

      # @param name [String] of a directory in that of this one
      # @param endpoint [Hash, nil] where its server listens
      # @return [Contender] a second one, in that directory or on that server; not opened
      def another(name, endpoint: @endpoint)
        own = File.join(dir, name).tap { |path| FileUtils.mkdir_p(path) }
        self.class.new(dir: own, endpoint: endpoint, threads: threads, size: size)
      end

      # Empties the store.
      def clear = store.clear

      # Called when a block has stored what its calls read.
      def filled; end

      # @return [Integer, nil] bytes that the store occupies on disk; nil for a store without files
      def disk_bytes = Footprint.files([dir]).sum.nonzero?

      # @return [Array<String>] where its files are, and after it those of its server
      def directories = [dir, endpoint && endpoint["dir"]].compact

      private

      # Codecs are options of the store, see coded_by.
      attr_reader :dir, :threads, :codecs

      def load_code; end

      # The entry format of a new Rails application; plain ActiveSupport starts with an older one.
      def use_current_format = ActiveSupport::Cache.format_version = 7.1

      # Opens a store as an application would by `config.cache_store = name, *arguments`.
      def lookup(name, *arguments)
        *rest, last = arguments
        arguments = last.is_a?(Hash) ? [*rest, last.merge(codecs)] : [*arguments, codecs] if codecs.any?
        @recorded = { store: name, arguments: plain(arguments) }
        ActiveSupport::Cache.lookup_store(name, *arguments)
      end

      def plain(option)
        case option
        when Array then option.map { |part| plain(part) }
        when Hash then option.except(:error_handler).transform_values { |part| plain(part) }
        when String then shown(option)
        else option
        end
      end

      # An error handler. Stores turn a lost connection into a miss; in a measurement that would be a figure about
      # nothing. Larder logs what a handler raises, and answers the miss.
      def fail_loudly(method:, returning:, exception:)
        @failure = "#{method} failed and would have answered #{returning.inspect}: #{exception.message}"
        raise Invalid, @failure
      end
    end
  end
end
