# frozen_string_literal: true

# Checks the constructor's arguments, separates Larder's options from Active Support's, and opens the file.

require "pathname"
require "larder/bytes/application"
require "larder/bytes/companions"
require "larder/bytes/size"

module Larder
  module Store
    # The checked arguments of LarderStore.new.
    class Settings
      # The name of the file if no path is given, see Application.file.
      DEFAULT_NAME = "cache.larder"

      # Environment variables, for what the configuration leaves out.
      PATH_VARIABLE = "LARDER_PATH"
      SIZE_VARIABLE = "LARDER_SIZE"

      # Of ActiveSupport::Cache.format_version.
      FORMAT_WITH_COMPRESSORS = 7.1
      private_constant :FORMAT_WITH_COMPRESSORS

      # @return [Hash] the options for ActiveSupport::Cache::Store, a copy of the caller's
      attr_reader :store_options
      # @return [String] the absolute path of the file
      attr_reader :path
      # @return [Integer, nil] bytes of the file when it is made; nil is the engine's default
      attr_reader :size
      # @return [#call, nil]
      attr_reader :error_handler
      # @return [Boolean]
      attr_reader :raise_errors
      # @return [Integer] bytes
      attr_reader :max_key_size
      # @return [Boolean] are plain values stored without asking a coder?
      attr_reader :plain_values
      # @return [Boolean] also lists, hashes and whatever else Larder::Tree knows?
      attr_reader :plain_trees

      # @return [Remote::Client, nil] the second level
      attr_reader :remote
      # @return [Remote::Backplane, nil] that tells machines of changes
      attr_reader :backplane
      # @return [Float] seconds for which a copy of an entry of the second level is used
      attr_reader :local_expires_in

      # @raise [ArgumentError] names the option, what it was given and what it takes
      def initialize(path, options, keywords)
        path, options = nil, path if path.is_a?(Hash) && options.nil?
        check("options", options, "a Hash") { |given| given.nil? || given.is_a?(Hash) }
        options = (options || {}).merge(keywords)
        Options.check(options, :store) { |name| UnknownOptions.report(name, :store) }

        @path = absolute(path, persistent?(options.delete(:persistent), path))
        take_engine_options(options)
        take_failure_options(options)
        take_remote(options)
        @max_key_size = key_limit(options.delete(:max_key_size))
        default_compression(options)
        take_codecs(options)
        @store_options = options
      end

      # @param path [String]
      # @param size [Integer, nil] bytes of the file when it is made
      # @return [Larder::Cache] if it cannot open its file, its first use says why
      def open(path = self.path, size: self.size)
        cache = Larder::Cache.open(path, size: size, size_from: @size_from, lock_timeout: @lock_timeout,
                                         lazy: @raise_errors ? :strict : true, configuration: @configuration&.digest,
                                         statistics: @statistics)
        name_keyspaces(cache) if @statistics
        cache
      end

      private

      # A namespace that a Proc makes is not known yet. One that is too long is left out, and so are namespaces and
      # patterns that the process has no room for: statistics are not worth an exception.
      def name_keyspaces(cache)
        namespace = store_options[:namespace]
        namespace = namespace.respond_to?(:call) ? nil : namespace&.to_s
        fits = namespace&.bytesize&.between?(1, 63) && !namespace.b.include?("\0")
        cache.name_keyspaces(namespace: (namespace if fits), patterns: @keyspaces)
      rescue Larder::InvalidArgument
        nil
      end

      def persistent?(given, path)
        return true unless given == false
        return false unless path

        raise ::ArgumentError, ":persistent false chooses the path; leave out #{path.to_s.inspect}, or :persistent"
      end

      def absolute(path, persistent)
        return Application.own(Application.file_in_memory(DEFAULT_NAME)) unless persistent
        return path_of_deployment if path.nil?

        check("the path", path, "a String or Pathname") do |given|
          (given.is_a?(String) || given.is_a?(Pathname)) && !given.to_s.empty?
        end
        Application.absolute(path.to_s)
      end

      # The file is checked when it is opened, so that it does not stop a boot.
      def path_of_deployment
        Application.own(Application.absolute(Application.variable(PATH_VARIABLE) || Application.file(DEFAULT_NAME)))
      end

      def take_engine_options(options)
        take_size(options)
        @lock_timeout = options.delete(:lock_timeout)
        @statistics = options.delete(:statistics) { true } || false
        @keyspaces = options.delete(:keyspaces) || []
      end

      # :max_size is Solid Cache's name for :size.
      def take_size(options)
        size, max_size = options.delete(:size), options.delete(:max_size)
        if size && max_size
          raise ::ArgumentError, ":size and :max_size of LarderStore mean the same; give one of them"
        end

        @size_from = size || max_size ? Application.calling_line(:cache_store) : SIZE_VARIABLE
        @size = if size then sized(":size of LarderStore", size)
                elsif max_size then sized(":max_size of LarderStore", max_size)
                else size_of_deployment
                end
      end

      def size_of_deployment
        given = Application.variable(SIZE_VARIABLE)
        sized(SIZE_VARIABLE, given) if given
      end

      def sized(name, given)
        bytes = Size.parse(given, name)
        range = Larder::Cache::MIN_SIZE..Larder::Cache::MAX_SIZE
        return bytes if range.cover?(bytes)

        raise ::ArgumentError, "#{name} is #{given.inspect}; it takes #{range.min} to #{range.max} bytes"
      end

      def take_failure_options(options)
        @error_handler = options.delete(:error_handler) { Failsafe::DEFAULT_ERROR_HANDLER }
        @raise_errors = options.delete(:raise_errors) || false
      end

      # What the remote store's options say of all entries holds here, too.
      def take_remote(options)
        given, sign_with, backplane = options.delete(:remote), options.delete(:sign_with), options.delete(:backplane)
        life, id = options.delete(:local_expires_in), options.delete(:remote_id)
        if given.nil?
          return without_remote(local_expires_in: life, sign_with: sign_with, backplane: backplane, remote_id: id)
        end

        address = Remote::Backplane::Address.new(backplane) if backplane
        @remote = Remote::Client.new(given, id: id, sign_with: sign_with, namespace: options[:namespace],
                                     flights: options[:single_flight] ? true : false,
                                     hidden: Options.with(:larder))
        Remote::Outbox.new(@remote, Companions.journal(path), backplane: address&.place.to_s)
        @local_expires_in = (life || (address ? TwoLevels::Copies::LONGER : TwoLevels::Copies::LOCAL_EXPIRES_IN)).to_f
        configure(address)
        inherited = @remote.store.options.slice(*Options.with(:inherited)).compact
        Options.check(inherited, :store)
        options.replace(inherited.merge(options))
        options[:namespace] = @remote.namespace unless @remote.namespace.nil?
      end

      # Processes that believe each other's copies are those of one configuration, and one of them listens.
      def configure(address)
        @configuration = Remote::Configuration.new(remote: @remote.identity, backplane: address&.place.to_s,
                                           local_expires_in: @local_expires_in)
        return unless address

        companion = Companions.backplane(path, @configuration.name)
        @backplane = Remote::Backplane.new(address, path: companion, remote: @remote)
      end

      def without_remote(given)
        name, = given.compact.first
        raise ::ArgumentError, "#{name.inspect} of LarderStore is for a store with remote:, which is missing" if name
      end

      # The default is Rails', if it has one; the engine's limit always holds, and with a remote store that of the lists
      # of changes.
      def key_limit(given)
        given = rails_key_limit if given.nil?
        longest = @remote ? Remote::Outbox::Lists::MAX_KEY : Larder::Cache::MAX_KEY
        given ? [given, longest].min : longest
      end

      def rails_key_limit
        store = ActiveSupport::Cache::Store
        store::MAX_KEY_SIZE if store.const_defined?(:MAX_KEY_SIZE)
      end

      # Names become Larder's codecs, which read what any other of them or of Rails' wrote. Frames have no checksum, as
      # the engine has one for each record.
      def take_codecs(options)
        serializer = options[:serializer]
        named = Options::Types.name?(serializer)
        @plain_values = !options.key?(:coder) && named
        @plain_trees = @plain_values && [nil, "native"].include?(serializer&.to_s)
        return if options.key?(:coder)

        options[:serializer] = serializer_named(serializer&.to_sym) if named
        check_format_version(options[:compressor]) if serializer.nil?
        options[:compressor] = compressor_named(options.fetch(:compressor, Options.default(:compressor)))
        take_coder(options)
      end

      # Larder's coder for a serializer of Larder; Rails' coder takes any other.
      def take_coder(options)
        return unless options[:serializer].is_a?(Larder::Serializer)

        serializer, compressor = options.delete(:serializer), options.delete(:compressor)
        options[:coder] = Larder::Coder.new(serializer: serializer, compressor: compressor)
      end

      # As in Rails' stores, although Larder's bytes are the same for all versions.
      def check_format_version(compressor)
        return if ActiveSupport::Cache.format_version >= FORMAT_WITH_COMPRESSORS
        return if [NilClass, Symbol, String, Larder::Compressor].any? { |taken| compressor.is_a?(taken) }

        raise ::ArgumentError, ":compressor of LarderStore is #{compressor.inspect}, which Rails takes from cache " \
                               "format version 7.1 on: config.active_support.cache_format_version = 7.1, or name one " \
                               "of Larder's (#{Larder::Compressors.names.map(&:inspect).join(", ")})"
      end

      # Only this user can write the file, so its content is trusted.
      def serializer_named(name)
        return Codecs::TreeSerializer.new(trusted: true, checksum: false) unless name

        RailsSerializer.named(name) || Larder::Serializers[name, trusted: true, checksum: false]
      end

      def compressor_named(given)
        return given unless given.is_a?(Symbol) || given.is_a?(String)

        Larder::Compressors.lookup(given, checksum: false)
      end

      # Off, as in MemoryStore: compressing costs far more than the copy it saves. A threshold turns it on.
      def default_compression(options)
        options[:compress] = options.key?(:compress_threshold) unless options.key?(:compress)
      end

      def check(name, given, wanted)
        return if yield(given)

        raise ::ArgumentError, "#{name} of LarderStore is #{given.inspect}; it takes #{wanted}"
      end
    end
  end
end
