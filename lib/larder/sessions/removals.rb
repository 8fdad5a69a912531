# frozen_string_literal: true

# Notes the keys that a request removes from a session that was not found.

module Larder
  module Sessions
    # For the session classes of Rack and Rails. A session that has another id since a moment ago is empty for a request
    # with the former id, so that its values do not show that the request signs a user out. The keys that it removes do.
    module Removals
      # @param key [#to_s]
      # @return [Object, nil] its value
      def delete(key)
        super.tap { removed(key.to_s) }
      end

      # @return [void]
      def clear
        super.tap { middleware.note_removal(@req, nil) }
      end

      # @param key [#to_s]
      # @param value [Object, nil] nil removes the key
      # @return [void]
      def []=(key, value)
        super.tap { removed(key.to_s) if value.nil? }
      end

      # @param values [#to_hash]
      # @return [void]
      def update(values)
        super.tap { removed(*values.to_hash.filter_map { |key, value| key.to_s if value.nil? }) }
      end

      # @param key [#to_s]
      # @param value [Object, nil] nil removes the key
      # @return [void]
      def store(key, value)
        self[key] = value
      end

      # @param values [#to_hash]
      # @return [void]
      def merge!(values)
        update(values)
      end

      private

      def removed(*keys)
        middleware.note_removal(@req, keys) if keys.any?
      end
    end
  end
end
