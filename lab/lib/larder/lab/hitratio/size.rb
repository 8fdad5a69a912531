# frozen_string_literal: true

require_relative "../units"

module Larder
  module Lab
    module Hitratio
      # The size of a cache: a number of bytes, a share of all the bytes that a trace asks for, or the bytes of so many
      # objects of one size.
      class Size
        # @param text [String] "5%", "512MiB", "1048576", "200x100KB"
        # @return [Size]
        def self.parse(text)
          count, bytes = text.match(/\A([1-9]\d*)x(.+)\z/)&.captures
          return new(text, Integer(count) * (each = Units.size(bytes, "--size")), false, each) if count

          share = text[/\A(\d+(?:\.\d+)?) ?%\z/, 1]
          size = new(text, share ? share.to_f : Units.size(text, "--size"), !share.nil?)
          size.bytes_of(1 << 40).positive? ? size : raise(UsageError, "--size #{text} must be more than 0")
        rescue UsageError => error
          raise UsageError, "#{error.message}; or a share of all bytes, as 5%; or objects of one size, as 200x100KB"
        end

        private_class_method :new

        # @return [Integer, nil] bytes of every object, whatever the trace says; nil: as the trace says
        attr_reader :object_bytes

        # @param number [Numeric] bytes or percent
        def initialize(text, number, share, object_bytes = nil)
          @text = text
          @number = number
          @share = share
          @object_bytes = object_bytes
        end

        # @param footprint [Integer] bytes of all objects of a trace
        # @return [Integer] bytes of the cache
        def bytes_of(footprint) = share? ? (footprint * @number / 100).round : @number

        # @return [Boolean]
        def share? = @share

        # @return [String] as it was given
        def to_s = @text
      end
    end
  end
end
