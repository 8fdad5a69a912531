# frozen_string_literal: true

require_relative "../units"

module Larder
  module Lab
    module Hitratio
      # The size of a cache: a number of bytes, or a share of all the bytes that a trace asks for.
      class Size
        # @param text [String] "5%", "512MiB", "1048576"
        # @return [Size]
        def self.parse(text)
          share = text[/\A(\d+(?:\.\d+)?) ?%\z/, 1]
          size = new(text, share ? share.to_f : Units.size(text, "--size"), !share.nil?)
          size.bytes_of(1 << 40).positive? ? size : raise(UsageError, "--size #{text} must be more than 0")
        rescue UsageError => error
          raise UsageError, "#{error.message}; or a share of all bytes, as 5%"
        end

        private_class_method :new

        # @param number [Numeric] bytes or percent
        def initialize(text, number, share)
          @text = text
          @number = number
          @share = share
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
