# frozen_string_literal: true

# Owns how a name becomes the key in the file: expanded as Rails does, namespaced, and short enough for the engine.

require "active_support/digest"

module Larder
  module Store
    # Same keys as Store's own methods, at a third of their cost: they merge the store's options again for each key.
    module Keys
      # Rails 7.1 announces and logs the name that a call was given, later ones the key that it became.
      ANNOUNCES_KEYS = ActiveSupport.gem_version >= Gem::Version.new("7.2.0.alpha")
      ALIASES = ActiveSupport::Cache::OPTION_ALIASES.values.flatten.freeze
      private_constant :ALIASES

      # @return [String, Proc, nil] what is put before every key
      def namespace
        @options[:namespace]
      end

      # Changes what is put before every key from now on.
      #
      # @param namespace [String, Proc, nil]
      def namespace=(namespace)
        @options[:namespace] = namespace
      end

      private

      # What notifications and the log call an entry.
      def announced(name, key)
        ANNOUNCES_KEYS ? key : name
      end

      def normalize_key(key, options = nil)
        name = if key.instance_of?(String) then key
               elsif plain_list?(key) then key.join("/")
               else expanded_key(key)
               end
        raise ArgumentError, "key cannot be blank" if !name || name.empty?

        name = namespace_key(name, options)
        name.bytesize > @max_key_size ? truncate_key(name) : name
      end

      # Scalars have no version of their own, and a list of them has the empty one.
      def normalize_version(key, options = nil)
        version = options && options[:version]
        return super if version

        case key
        when String, Symbol, Integer then key.respond_to?(:cache_version) ? super : nil
        else plain_list?(key) ? "" : super
        end
      end

      # Whether Rails makes nothing else of this key than its elements joined.
      def plain_list?(key)
        key.instance_of?(Array) && key.all? do |element|
          element.instance_of?(String) || element.instance_of?(Symbol) || element.instance_of?(Integer)
        end
      end

      # Store's copies the options and looks for the aliases in the copy.
      def normalize_options(options)
        ALIASES.none? { |name| options.key?(name) } ? options.dup : super
      end

      def namespace_key(key, options = nil)
        namespace = options&.key?(:namespace) ? options[:namespace] : @options[:namespace]
        namespace = namespace.call if namespace.respond_to?(:call)
        key = key.dup.force_encoding(Encoding::UTF_8) if key && key.encoding != Encoding::UTF_8

        namespace ? "#{namespace}:#{key}" : key
      end

      # Ends a key that is too long in a digest of the whole, as Rails 8.1 does.
      def truncate_key(key)
        return key if key.bytesize <= @max_key_size

        suffix = ":hash:#{ActiveSupport::Digest.hexdigest(key)}"
        "#{key.byteslice(0, @max_key_size - suffix.bytesize).scrub("")}#{suffix}"
      end
    end
  end
end
