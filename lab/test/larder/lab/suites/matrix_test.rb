# frozen_string_literal: true

require "test_helper"
require "larder/lab/suites"

module Larder
  module Lab
    module Suites
      class MatrixTest < ActiveSupport::TestCase
        test "a value that is too short to be compressed is weighed as the store keeps it" do
          require "larder/lab/codecs/ways"
          ways = [Codecs.serializer("marshal", ""), Codecs.compressor("zlib")]
          { 500 => 500..600, 5000 => 10..100 }.each do |size, bytes|
            assert_includes bytes, Codecs.bytes("a" * size, *ways).bytesize
          end
        end
      end
    end
  end
end
