# frozen_string_literal: true

require "test_helper"
require "larder/lab/suites"
require "zlib"

module Larder
  module Lab
    module Suites
      module Shop
        class TextTest < ActiveSupport::TestCase
          test "HTML compresses as real pages do, and longer text better" do
            ratios = [2048, 5000, 20_000].map { |bytes| compression(Text.html(1, bytes)) }
            [2.6, 3.2, 3.9].zip(ratios) { |expected, ratio| assert_in_delta expected, ratio, 0.3 }
          end

          test "each record has bytes of its own, which are the same in each process" do
            texts = Array.new(50) { |id| Text.html(id, 2048) }
            assert_equal 50, texts.uniq.size
            assert_equal texts[7], Text.html(7, 2048)
            assert(texts.all? { |text| text.bytesize.between?(2048, 2600) })
          end

          test "a document is JSON of about the length that was asked for" do
            json = JSON.generate(Text.document(3, 5000))
            assert_in_delta 5000, json.bytesize, 1500
            assert_operator compression(json), :>, 2
            assert_not_equal json, JSON.generate(Text.document(4, 5000))
          end

          private

          def compression(text) = text.bytesize.fdiv(Zlib.deflate(text).bytesize)
        end
      end
    end
  end
end
