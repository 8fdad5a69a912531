# frozen_string_literal: true

# Refuses a value that the serializer cannot store when it is assigned, so that the backtrace names the line.

module Larder
  module Sessions
    # For the session classes of Rack and Rails. Changes within a value are checked when the session is stored.
    module Checked
      # @param key [#to_s]
      # @param value [Object]
      # @return [void]
      # @raise [LossyValueError] naming the key
      def []=(key, value)
        super(key, check(key, value))
      end

      # @param values [#to_hash]
      # @return [void]
      # @raise [LossyValueError] naming the key
      def update(values)
        super(check_each(values))
      end

      # @param key [#to_s]
      # @param value [Object]
      # @return [void]
      # @raise [LossyValueError] naming the key
      def store(key, value)
        self[key] = value
      end

      # @param values [#to_hash]
      # @return [void]
      # @raise [LossyValueError] naming the key
      def merge!(values)
        update(values)
      end

      private

      def check_each(values)
        return values unless values.respond_to?(:to_hash) # an error of the session's own

        values.to_hash.to_h { |key, value| [key, check(key, value)] }
      end

      def check(key, value)
        middleware.repository.format.check(key.to_s, value)
      end
    end
  end
end
