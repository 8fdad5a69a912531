# frozen_string_literal: true

require "test_helper"
require "larder/lab/suites/capacity/objects"
require "zlib"

module Larder
  module Lab
    module Suites
      module Capacity
        class ObjectsTest < ActiveSupport::TestCase
          test "an object is made of its number and the seed, and of nothing else" do
            Objects::KINDS.each_key do |kind|
              assert_equal Objects.new(kind, 1)[77], Objects.new(kind, 1)[77]
            end
          end

          test "objects differ, and have the bytes that they are named for" do
            Objects::KINDS.select { |_, (_, size)| size }.each do |kind, (_, bytes)|
              objects = Objects.new(kind, 1)
              strings = Array.new(9000) { |i| objects[i] }
              assert_equal strings.size, strings.uniq.size
              assert_equal([bytes], strings.map(&:bytesize).uniq)
            end
          end

          test "they cannot be compressed" do
            text = Objects.new("10k", 1)[5]
            assert_operator Zlib.deflate(text).bytesize, :>, text.bytesize * 0.99
          end
        end
      end
    end
  end
end
