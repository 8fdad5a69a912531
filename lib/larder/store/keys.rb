# frozen_string_literal: true

# Makes the key in the file from a name: expanded as Rails does, with the namespace, and short enough for the engine.

require "active_support/digest"

module Larder
  module Store
    # The keys are those of Store's own methods.
    module Keys
      # Rails 7.1 instruments and logs the name that a call was given, later ones the key.
      INSTRUMENTS_KEYS = ActiveSupport.gem_version >= Gem::Version.new("7.2.0.alpha")

      # Events of the multi forms have keys from Rails 8.0 on, and names before.
      INSTRUMENTS_MANY_KEYS = ActiveSupport.gem_version >= Gem::Version.new("8.0.0.alpha")

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

      # The names of entries in events of the multi forms.
      def instrumented_keys(names, options)
        INSTRUMENTS_MANY_KEYS ? names.map { |name| normalize_key(name, options) } : names
      end

      # Store's, limited also on a Rails whose own stores have no limit.
      def normalize_key(key, options = nil)
        truncate_key(super)
      end

      # Store's, as a String, which true.to_param is not. The empty version of an Array is in UTF-8: for any other
      # encoding, Rails' coder makes more bytes.
      def normalize_version(key, options = nil)
        version = super
        version == "" ? "" : version&.to_s
      end

      # With this each key of the namespace starts. Without a namespace all keys are meant, also if a class overrides
      # namespace_key: as in Rails' stores, which only look at the option.
      def namespace_prefix(options)
        options[:namespace].nil? ? "" : namespace_key("", options)
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
