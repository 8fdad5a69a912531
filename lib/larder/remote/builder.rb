# frozen_string_literal: true

# Makes the store that `remote:` of LarderStore names.

require "zlib"
require "larder/codecs"
require "larder/codecs/tree_serializer"
require "larder/remote/addresses"
require "larder/remote/adapters"

module Larder
  module Remote
    # A store without a coder of its own gets Larder's.
    # @api private
    module Builder
      CODECS = %i[coder serializer compressor].freeze
      private_constant :CODECS

      module_function

      # @param given [ActiveSupport::Cache::Store, Symbol, Array] a store, or what config.cache_store takes
      # @param sign_with [String, Array<String>, nil] the key of signatures, see Larder::Codecs
      # @return [ActiveSupport::Cache::Store]
      # @raise [ArgumentError] it is not a store, or is one of Larder
      def store(given, sign_with)
        made = given.is_a?(ActiveSupport::Cache::Store) ? signed_by_itself(given, sign_with) : built(given, sign_with)
        return made unless defined?(ActiveSupport::Cache::LarderStore) && made.is_a?(ActiveSupport::Cache::LarderStore)

        raise ::ArgumentError, "remote: of LarderStore is a LarderStore, which no other machine can reach; it " \
                               "takes a store on a server, as [:redis_cache_store, { url: … }]"
      end

      def built(given, sign_with)
        name, *arguments = given
        options = arguments.last.is_a?(Hash) ? arguments.pop : {}
        options = with_coder(Adapters.with_defaults(name, arguments, options), sign_with)
        looked_up(name, [*arguments, options])
      end

      def looked_up(name, arguments)
        ActiveSupport::Cache.lookup_store([name, *arguments]).tap do |store|
          Adapters.check(name, store, arguments.last)
        end
      rescue LoadError, StandardError => e
        raise ::ArgumentError, "remote: of LarderStore is #{name.inspect}, and that store cannot be made: " \
                               "#{Addresses.hide(e.message, arguments)}", cause: nil
      end

      # Larder's, unless another one is asked for.
      def with_coder(options, sign_with)
        own = CODECS.find { |option| options.key?(option) }
        return options.merge(coder: coder(sign_with)) unless own

        signed_by_itself(options, sign_with, "has #{own}: of its own")
      end

      # @return [Object] what is given
      # @raise [ArgumentError] it is to be signed here
      def signed_by_itself(given, sign_with, because = "was made by the application")
        return given unless sign_with

        raise ::ArgumentError, "sign_with: of LarderStore has no effect, as the remote store #{because}; give that " \
                               "one coder: Larder::Coder.new(serializer: Larder::Serializers[:native, sign_with: …])"
      end

      # Bytes of Rails' own coder are trusted, as Rails does. Rails' coder can read compressed Strings of this one.
      def coder(sign_with)
        return Larder::Coder.new(serializer: Codecs::TreeSerializer.new(sign_with: sign_with)) if sign_with

        Larder::Coder.new(serializer: Codecs::TreeSerializer.new(trusted: true), compressor: Zlib)
      end
      private_class_method :built, :looked_up, :with_coder, :signed_by_itself, :coder
    end
  end
end
