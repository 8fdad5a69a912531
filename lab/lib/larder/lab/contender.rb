# frozen_string_literal: true

# Owns what every contender has in common: its name, the gems and the server it needs, how its store is opened, emptied
# and measured from outside. One subclass per store, in contenders/. Instances live only in worker processes; the
# command itself reads the class methods and loads no store.

require "fileutils"
require_relative "errors"

module Larder
  module Lab
    # A store that takes part. A subclass says what it needs and implements {#open_store}; it overrides {#load_code}
    # where code must be loaded first, and {#clear} where emptying is not `store.clear`.
    #
    # @example
    #   class MyStore < Larder::Lab::Contender
    #     named "mine", "My own store"
    #     needs_gem "my_store", ">= 2.0"
    #
    #     def open_store
    #       lookup(:my_store, File.join(dir, "mine.db"), { size: size })
    #     end
    #   end
    class Contender
      # Room that every store gets, where its documentation lets one choose: 256 MB, far more than any run writes.
      SIZE = 256 * 1024 * 1024

      class << self
        # @return [String] what users type
        attr_reader :key
        # @return [String] one line for `--list`
        attr_reader :title
        # @return [String, nil] name in {Servers} of the server it talks to
        attr_reader :server
        # @return [String, nil] name of the Gemfile in lab/gemfiles that it has for itself
        attr_reader :bundle

        # @return [Hash{String=>Array<String>}] gem names and version requirements
        def gems
          @gems ||= {}
        end

        # @return [Boolean] false where every read is a miss by design (the null store)
        def keeps_values?
          @keeps_values != false
        end

        # @return [Boolean] whether it takes part only where it is asked for by name
        def on_request?
          @on_request == true
        end

        # @return [Boolean] whether a quick run goes without it, unless it is asked for by name
        def slow_to_start?
          @slow_to_start == true
        end

        # @return [Boolean] whether all processes of a machine see the same values
        def shared?
          @shared != false
        end

        private

        def named(key, title)
          @key = key
          @title = title
          Contenders.register(key, self)
        end

        def needs_gem(name, *requirements)
          gems[name] = requirements
        end

        def needs_server(name)
          @server = name
        end

        # Its gems are resolved alone, because they exclude versions that other contenders need.
        def bundled_apart(name)
          @bundle = name
        end

        # Its server takes seconds to start, so that a quick run goes without it.
        def slow_to_start
          @slow_to_start = true
        end

        def only_on_request
          @on_request = true
        end

        def keeps_nothing
          @keeps_values = false
        end

        def private_to_process
          @shared = false
        end
      end

      # @return [ActiveSupport::Cache::Store] after {#open}
      attr_reader :store
      # @return [Hash{Symbol=>Object}] what was given to `lookup_store`, for the record
      attr_reader :recorded

      # @param dir [String] an empty directory of its own
      # @param endpoint [Hash, nil] where its server listens, see {Endpoint}
      # @param threads [Integer] how many threads will use the store at once
      # @param size [Integer] bytes of room that the store gets; a server has its own, see {Server}
      def initialize(dir:, endpoint: nil, threads: 1, size: SIZE)
        @dir = dir
        @endpoint = endpoint
        @threads = threads
        @size = size
        @recorded = {}
      end

      # Activates the gems, loads the code and opens the store.
      # @return [self]
      # @raise [Unavailable] naming the missing gem and the command that gets it
      def open
        self.class.gems.each { |name, requirements| activate(name, requirements) }
        load_code
        use_current_format
        @store = open_store
        self
      end

      # Has the store use these codecs in place of its own.
      # @param options [Hash] of ActiveSupport::Cache::Store
      # @return [self]
      def coded_by(**options)
        @codecs = options
        self
      end

      # Empties the store.
      # @return [void]
      def clear
        store.clear
      end

      # @return [Integer, nil] bytes that the store occupies on disk; nil for a store without files
      def disk_bytes
        files = Dir.glob(File.join(dir, "**", "*"), File::FNM_DOTMATCH).select { |path| File.file?(path) }
        bytes = files.sum { |path| File.stat(path).blocks.to_i * 512 }
        bytes.zero? ? nil : bytes
      end

      private

      attr_reader :dir, :endpoint, :threads, :size

      # Overridden where code must be loaded before the store is looked up.
      def load_code; end

      # The entry format of a new Rails application; plain ActiveSupport starts with an older one.
      def use_current_format
        ActiveSupport::Cache.format_version = 7.1
      end

      # Opens a store as an application would by `config.cache_store = name, *arguments`.
      def lookup(name, *arguments)
        arguments = with_codecs(arguments) if codecs.any?
        @recorded = { store: name, arguments: arguments }
        ActiveSupport::Cache.lookup_store(name, *arguments)
      end

      def with_codecs(arguments)
        *rest, last = arguments
        last.is_a?(Hash) ? [*rest, last.merge(codecs)] : [*arguments, codecs]
      end

      # Options of the store, see coded_by.
      def codecs
        @codecs || {}
      end

      # A URL as it may be shown and recorded: without the name and password it may hold.
      def shown(url)
        url.sub(%r{(?<=//)[^@/]*@}, "").gsub(/(?<=[?&]password=)[^&]*/, "...")
      end

      # An error handler. Stores turn a lost connection into a miss; in a measurement that would be a figure about
      # nothing.
      def fail_loudly(method:, returning:, exception:)
        raise Voided, "#{method} failed and would have answered #{returning.inspect}: #{exception.message}"
      end

      def activate(name, requirements)
        gem(name, *requirements)
      rescue Gem::LoadError => error
        wanted = [name, *requirements].map { |word| "\"#{word}\"" }.join(", ")
        how = defined?(Bundler) && ENV["BUNDLE_GEMFILE"] ? "gem #{wanted} in the Gemfile" : "gem install #{name}"
        raise Unavailable, "the gem #{name} is missing: #{how} (#{error.message.lines.first.to_s.strip})"
      end
    end
  end
end
