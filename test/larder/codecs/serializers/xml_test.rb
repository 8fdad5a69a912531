# frozen_string_literal: true

# What is particular to XML; what it shares with the others is in test/larder/serializers_test.rb.

require "test_helper"
require "support/codec_case"

class LarderSerializersXmlTest < ActiveSupport::TestCase
  include CodecCase

  test "an id of digits comes back with the digits that it had" do
    records = ["-0", "0", "00", "-7", "7", 7, 0, -7, "9" * 18, "9" * 19, "", "-"].map { |id| { "id" => id } }
    records << { "id" => "-0", "ID" => 5, "Id" => "5", "iD" => "a", "name" => "-0" }
    %i[attribute child].each do |shape|
      xml = serializer(:xml, shape: shape)
      assert_equal records, xml.load(xml.dump(records))
    end
  end
end
