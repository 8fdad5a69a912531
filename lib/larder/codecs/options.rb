# frozen_string_literal: true

# Makes codecs from the user's options, and raises errors that list the known ones.

module Larder
  module Codecs
    # Keywords of a codec's constructor.
    module Options
      module_function

      # @param codec [Class]
      # @param who [String] for the message
      # @param options [Hash] of the user
      # @param limits [Hash] of the caller, for codecs that have them
      # @param also [Array<Symbol>] options beside those that its constructor names
      # @return [Object] an instance
      # @raise [ArgumentError]
      def build(codec, who, options, limits = {}, also: [])
        takes = codec.instance_method(:initialize).parameters.filter_map { |kind, name| name if kind == :key }
        known = takes - [:trusted] + also # who trusts is said to the serializer
        unknown = options.keys - known
        return codec.new(**limits.slice(*takes), **options) if unknown.empty?

        raise ::ArgumentError, "#{who} has no option #{unknown.first.inspect}; " \
                               "it takes #{known.empty? ? "none" : known.map(&:inspect).join(", ")}"
      end

      # @return [Object] given
      # @raise [ArgumentError] it is not in the range
      def range(given, range, what)
        return given if given.is_a?(Integer) && range.cover?(given)

        raise ::ArgumentError, "#{what} is #{given.inspect}; it takes an Integer from #{range.min} to #{range.max}"
      end
    end
  end
end
