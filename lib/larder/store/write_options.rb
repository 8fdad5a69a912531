# frozen_string_literal: true

# The second argument of the block of `fetch`.

require "active_support/cache"
require "larder/store/tag_texts"

module Larder
  module Store
    # Rails' WriteOptions, with what only the block can decide, or needs to know. The fast path makes objects of this
    # class, too, by setting `@options` alone: then there is no old value.
    class WriteOptions < ActiveSupport::Cache::WriteOptions
      # @api private
      # @param call [Call]
      # @param level [LocalLevel, TwoLevels] which has the old value
      # @return [self]
      def of(call, level)
        @call = call
        @level = level
        self
      end

      # @return [Object, nil] as they were given to `fetch` or {#tags=}
      def tags
        given = @options[:tags]
        given.instance_of?(TagTexts) ? given.names : given
      end

      # Sets the tags of the entry, in place of those that `fetch` was given. A tag that is deleted after the block
      # began deletes the entry.
      #
      # @param tags [Object, nil] as `tags:`
      # @example
      #   Rails.cache.fetch("front page") do |_name, options|
      #     Product.featured.tap { |products| options.tags = products }
      #   end
      def tags=(tags)
        given = @options[:tags]
        @options[:tags] = given.instance_of?(TagTexts) ? given.with_names(tags) : tags
      end

      # The value that the block's replaces, as long as the call may be answered with it, for a conditional request.
      #
      # @return [Object, nil] nil: there is none
      # @example
      #   Rails.cache.fetch("rates", expires_in: 300, stale_if_error: 86_400) do |_name, options|
      #     Rates.load(unless_changed_since: options.stale_value)
      #   end
      def stale_value
        old&.value
      end

      # @return [Float, nil] seconds since the value of {#stale_value} expired; 0.0: it has not; nil: there is none
      def stale_age
        entry = old or return
        entry.expires_at ? [Clock.now - entry.expires_at, 0.0].max : 0.0
      end

      private

      def old
        return @old if defined?(@old)

        @old = @call&.old(@level.kept(@call))
      end
    end
  end
end
