# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "larder/lab/suites"

module Larder
  module Lab
    module Suites
      class MatrixTest < ActiveSupport::TestCase
        test "a text goes through the compressor, and is weighed as the store keeps it, also if it is short" do
          { "ruby:'a' * 500" => 500..500, "ruby:'a' * 5000" => 10..100 }.each do |source, bytes|
            assert_includes bytes, prepared("memory", "native", source).figures["bytes"]
          end
        end

        test "a text is measured with one serializer, as stores ask none for it" do
          error = assert_raises(Unavailable) { prepared("memory", "marshal", "ruby:'a' * 5000") }
          assert_equal "stores serialize no String; see native", error.message
        end

        test "a store that takes no serializer is not measured with one" do
          error = assert_raises(Unavailable) { prepared("floor", "native", "ruby:'a'") }
          assert_equal "the store takes no serializer", error.message
        end

        private

        def prepared(name, serializer, source)
          with_directory do |dir|
            contender = Contenders.fetch(name).new(dir: dir).open
            scene = Bench::Scene.new(contender, settings: { given: source })
            Payloads.stub(:of, Payloads::Payload.new(Payloads.given(source))) do
              Matrix.prepare(scene, serializer, "zlib", Coded::GIVEN)
            end
            scene
          end
        end
      end
    end
  end
end
