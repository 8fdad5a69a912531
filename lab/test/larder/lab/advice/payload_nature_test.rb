# frozen_string_literal: true

require "test_helper"
require "larder/lab/advice/losses"

module Larder
  module Lab
    module Advice
      class PayloadNatureTest < ActiveSupport::TestCase
        Pair = Struct.new(:one, :other)

        test "classes, depth and text of a value" do
          nature = PayloadNature.new([{ name: "pear", tags: %w[a b] }, Pair.new(1, 2.5)]).to_h
          assert_equal({ "Array" => 2, "String" => 3, "Symbol" => 2, "Hash" => 1, "Integer" => 1, "Float" => 1,
                         Pair.name => 1 }, nature[:classes])
          assert_equal 4, nature[:depth]
          assert_equal "pear".size + "ab".size + "nametags".size, nature[:text]
          assert_operator nature[:deflated], :>, 0
        end

        test "a value that holds itself has an end" do
          value = []
          value << value
          assert_equal 2, PayloadNature.new(value).to_h[:counted]
        end

        test "what Marshal refuses is said" do
          nature = PayloadNature.new([-> {}]).to_h
          assert_nil nature[:marshal]
          assert_match(/no _dump_data is defined for class Proc/, nature[:refusal])
        end

        test "types that became others, each once" do
          value = { a: [1, :b, Pair.new(1, 2)], c: Time.at(0) }
          copy = { "a" => [1, "b", { "one" => 1 }], "c" => "1970" }
          assert_equal ["Symbol becomes String", "#{Pair} becomes Hash", "Time becomes String"],
                       Losses.between(value, copy)
          assert_empty Losses.between(value, Marshal.load(Marshal.dump(value)))
          assert_equal ["Array comes back with other contents"], Losses.between([1, 2], [1])
        end
      end
    end
  end
end
