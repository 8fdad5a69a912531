# frozen_string_literal: true

require_relative "../errors"

module Larder
  module Lab
    module Hitratio
      # How large a cache is: so many bytes, or a share of all the bytes that a trace asks for.
      class Size
        UNITS = { "" => 1, "B" => 1, "KiB" => 1 << 10, "MiB" => 1 << 20, "GiB" => 1 << 30,
                  "KB" => 10**3, "MB" => 10**6, "GB" => 10**9 }.freeze

        # @param text [String] "5%", "512MiB", "1048576"
        # @return [Size]
        # @raise [UsageError]
        def self.parse(text)
          number, unit = text.match(/\A(\d+(?:\.\d+)?) ?(%|[KMG]i?B|B|)\z/)&.captures
          raise UsageError, "--size #{text}: say a share as 5%, or bytes as 512MiB" unless number
          raise UsageError, "--size #{text} must be more than 0" unless number.to_f.positive?

          new(text, number.to_f, unit)
        end

        private_class_method :new

        # @param text [String]
        # @param number [Float]
        # @param unit [String]
        def initialize(text, number, unit)
          @text = text
          @number = number
          @unit = unit
        end

        # @param footprint [Integer] bytes of all objects of a trace
        # @return [Integer] bytes of the cache
        def bytes_of(footprint)
          (@unit == "%" ? footprint * @number / 100 : @number * UNITS.fetch(@unit)).round
        end

        # @return [Boolean]
        def share?
          @unit == "%"
        end

        # @return [String] as it was given
        def to_s
          @text
        end
      end
    end
  end
end
