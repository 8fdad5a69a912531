# frozen_string_literal: true

require "test_helper"
require "larder/inspection"

module Larder
  module Inspection
    # Keys as text that can be typed again.
    class KeyTextTest < ActiveSupport::TestCase
      SHOWN = { "views/1 a" => "views/1 a", "größe/日本" => "größe/日本",
                "a\\b" => "a\\\\b", "a\0\n\x7F" => "a\\x00\\x0A\\x7F",
                "a\xFFä\xC3" => "a\\xFFä\\xC3",
                "\u202Eabc" => "\\xE2\\x80\\xAEabc", "" => "", "\\x41" => "\\\\x41" }.freeze

      test "bytes that cannot be seen are escaped, and the shown text can be typed" do
        SHOWN.each do |key, text|
          assert_equal text, KeyText.shown(key.b)
          assert_equal [key.b, Encoding::BINARY], [KeyText.bytes(text), KeyText.bytes(text).encoding]
        end
      end

      test "any bytes are shown as text of UTF-8 that means them" do
        random = Random.new(7)
        1000.times do
          key = random.bytes(random.rand(40))
          text = KeyText.shown(key)
          assert_predicate text, :valid_encoding?
          assert_no_match(/[[:cntrl:]]/, text)
          assert_equal key, KeyText.bytes(text)
        end
      end

      test "a backslash before anything else stands for itself" do
        assert_equal ["c:\\dir", "\\x4", "a\\"], ["c:\\dir", "\\x4", "a\\"].map { |text| KeyText.bytes(text) }
      end
    end
  end
end
