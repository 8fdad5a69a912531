# frozen_string_literal: true

# MessagePack as ActiveSupport extends it, with the gem msgpack: Symbols, Times, BigDecimals, Sets, records with their
# loaded associations, and other types that Rails caches.

require "larder/bytes/interrupts"

module Larder
  module Serializers
    # Small and fast. The library limits the nesting, to some hundred levels.
    class MessagePack
      RUNS_CODE = false
      MAKES_OBJECTS = true

      # @param trusted [Boolean] also objects of classes that offer `from_msgpack_ext` or `json_create`, which are code
      #   of the application's and of its libraries
      def initialize(trusted: false)
        Codecs::OptionalGems.need("active_support/message_pack", gem: "msgpack", who: "serializer :message_pack")
        # Not CacheSerializer's factory, which returns nil if a class is gone: that must be a miss.
        @load = ActiveSupport::MessagePack::Serializer.instance_method(:load)
        @packer = trusted ? ActiveSupport::MessagePack::CacheSerializer : MessagePack.strict
      end

      # Only the types of Rails.
      #
      # @return [ActiveSupport::MessagePack::Serializer]
      # @api private
      def self.strict
        @strict ||= Object.new.extend(ActiveSupport::MessagePack::Serializer)
      end

      # @return [String]
      # @raise [Larder::UnserializableError]
      def dump(value)
        know_records
        @packer.dump(value)
      rescue ActiveSupport::MessagePack::UnserializableObjectError => e
        refuse(value, e)
      rescue ::NoMethodError => e
        raise unless OwnFailure.again?(e) { @packer.dump(value) }

        refuse(value, e)
      end

      # @return [Object]
      def load(payload)
        know_records
        @load.bind_call(@packer, payload)
      end

      private

      def refuse(value, error)
        raise UnserializableError, "message_pack cannot bring back a value of #{Cacheable.class_of(value)}: " \
                                   "#{error.message}; :marshal can"
      end

      # Rails does so in applications, but not in other programs with ActiveRecord.
      def know_records
        return if @knows_records || !defined?(ActiveRecord::Base)

        require "active_record/message_pack"
        Thread.handle_interrupt(Interrupts::DEFERRED) { register_records } # wholly or not at all
        @knows_records = true
      end

      def register_records
        factory = @packer.message_pack_factory
        return if factory.frozen? || factory.type_registered?(ActiveRecord::Base)

        ActiveRecord::MessagePack::Extensions.install(@packer)
      end
    end
  end
end
