# frozen_string_literal: true

# Refuses at its assignment what a session cannot keep, so that the backtrace names the line of the application.

module Larder
  module Sessions
    # For the sessions that requests see, of Rack's and of Rails' class. What changes within a value is seen when the
    # session is kept.
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
