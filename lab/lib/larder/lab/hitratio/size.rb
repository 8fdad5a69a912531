# frozen_string_literal: true

require_relative "../units"

module Larder
  module Lab
    module Hitratio
      # The size of a cache. text: as it was given; number: bytes, or percent; share: is it a share of all the bytes
      # that a trace asks for?; object_bytes: bytes of every object, whatever the trace says (nil: as the trace says).
      Size = Struct.new(:text, :number, :share, :object_bytes) do
        # @param text [String] "5%", "512MiB", "1048576", "200x100KB"
        # @raise [UsageError]
        def self.parse(text)
          count, bytes = text.match(/\A([1-9]\d*)x(.+)\z/)&.captures
          return new(text, Integer(count) * (each = Units.size(bytes, "--size")), false, each) if count

          share = text[/\A(\d+(?:\.\d+)?) ?%\z/, 1]
          size = new(text, share ? share.to_f : Units.size(text, "--size"), !share.nil?)
          size.bytes_of(1 << 40).positive? ? size : raise(UsageError, "--size #{text} must be more than 0")
        rescue UsageError => error
          raise UsageError, "#{error.message}; or a share of all bytes, as 5%; or objects of one size, as 200x100KB"
        end

        # @param footprint [Integer] bytes of all objects of a trace
        # @return [Integer] bytes of the cache
        def bytes_of(footprint) = share? ? (footprint * number / 100).round : number

        def share? = share

        # @return [String] as it was given
        def to_s = text
      end
    end
  end
end
