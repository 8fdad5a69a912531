# frozen_string_literal: true

require "test_helper"
require "larder/lab/trials/published"
require "larder/lab/trials/wire"

module Larder
  module Lab
    module Trials
      class WireTest < ActiveSupport::TestCase
        test "from the published figures follow the published break-even points" do
          reaches = Wire.new(published).reaches
          assert_equal %w[brotli-5 zstd-3 snappy none], reaches.map(&:name)
          assert_in_delta 3.12e6, reaches[0].to, 0.01e6
          assert_in_delta 0.755e9, reaches[1].to, 0.001e9
          assert_in_delta 3.17e9, reaches[2].to, 0.01e9
          assert_nil reaches.last.to
          assert_equal %w[lz4 lz4_flex], Wire.new(published).never.sort
        end

        test "whoever it names is the fastest there" do
          Wire.new(published).reaches.each do |reach|
            middle = reach.to ? (reach.from + reach.to) / 2 : reach.from * 2
            assert_equal reach.name, published.min_by { |line| line.at(middle) }.name
          end
        end

        test "one alone is always the fastest, and of two that take as long the smaller" do
          one = Wire::Line.new(name: "one", seconds: 1.0, bytes: 10)
          assert_equal [["one", 0.0, nil]], Wire.new([one]).reaches.map(&:to_a)
          small = Wire::Line.new(name: "small", seconds: 1.0, bytes: 5)
          assert_equal ["small"], Wire.new([one, small]).reaches.map(&:name)
        end

        private

        def published
          Published::COMPRESSORS.filter_map do |name, (_, bytes, rate)|
            Wire::Line.new(name: name, bytes: bytes, seconds: rate ? 1.0 / rate : 0.0) if bytes
          end
        end
      end
    end
  end
end
