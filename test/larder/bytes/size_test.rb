# frozen_string_literal: true

require "test_helper"
require "larder/bytes/size"
require "active_support/core_ext/numeric/bytes"

module Larder
  class SizeTest < ActiveSupport::TestCase
    test "a unit is a power of 1024, however it is spelt" do
      ["256MB", "256 MB", "256MiB", "256 mib", "256m", " 256M\n", "0.25GB", "268435456", "268435456 bytes", "262144k",
       "268435456B"].each { |text| assert_equal 256.megabytes, Size.parse(text), text.inspect }
      assert_equal [1, 1.kilobyte, 1.gigabyte, 1.terabyte], ["1 byte", "1KB", "1GB", "1 TiB"].map { Size.parse(_1) }
    end

    test "a size is written in MiB with one decimal" do
      assert_equal ["256.0 MiB", "0.1 MiB", "0.0 MiB"], [256.megabytes, 60.kilobytes, 0].map { Size.text(_1) }
    end

    test "parts of a unit are whole bytes" do
      assert_equal [1.5.gigabytes.to_i, 322_122_547], [Size.parse("1.5GB"), Size.parse("0.3GB")]
    end

    test "a number is bytes, also the Float that 1.5.gigabytes is" do
      assert_equal [4096, 1_610_612_736], [Size.parse(4096), Size.parse(1.5.gigabytes)]
      assert_instance_of Integer, Size.parse(1.5.gigabytes)
    end

    test "anything else is refused by name, with what is accepted" do
      ["", "MB", "a lot", "256 parsecs", "-1MB", "+1MB", "1e9", "1,5GB", "1 GB\n2 GB", "256  MB", "0", "0GB", "0.1", 0,
       -1, 0.5, Float::NAN, Float::INFINITY, "\xFF", nil, :"1GB", [1]].each do |given|
        error = assert_raises(::ArgumentError, given.inspect) { Size.parse(given, "LARDER_SIZE") }
        assert_equal "LARDER_SIZE #{given.inspect} is no size; give a positive number of bytes (268435456), or one " \
                     'with a unit: "256MB", "512 MiB", "1.5GB", "1TB", where 1 KB is 1024 bytes', error.message
      end
    end
  end
end
