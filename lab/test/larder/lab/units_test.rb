# frozen_string_literal: true

require "test_helper"
require "larder/lab/units"

module Larder
  module Lab
    class UnitsTest < ActiveSupport::TestCase
      { "0" => 0.0, "0.5ms" => 0.0005, "200us" => 0.0002, "200µs" => 0.0002, "200μs" => 0.0002, "50ns" => 5e-8,
        "2s" => 2.0, "2 S" => 2.0, ".5ms" => 0.0005, "5min" => 300.0, "1h" => 3600.0, "0ms" => 0.0 }
        .each do |text, seconds|
        test "#{text} is #{seconds} seconds" do
          assert_equal seconds, Units.duration(text, "--rtt")
        end
      end

      { "1gbit" => 1e9, "100mbit" => 1e8, "2.5 Gbit/s" => 2.5e9, "10kbit" => 1e4, "1tbit" => 1e12, "800bit" => 800.0,
        "none" => nil, "Unlimited" => nil }.each do |text, bits|
        test "#{text} is a bandwidth of #{bits || "no limit"}" do
          bits ? assert_equal(bits, Units.bandwidth(text, "--bandwidth")) : assert_nil(Units.bandwidth(text, "-"))
        end
      end

      { "10gb" => 10_000_000_000, "512MiB" => 536_870_912, "1048576" => 1_048_576, "1.5kB" => 1500, "64 KiB" => 65_536,
        "12b" => 12, "1tb" => 10**12, "0" => 0 }.each do |text, bytes|
        test "#{text} is #{bytes} bytes" do
          assert_equal bytes, Units.size(text, "--size")
        end
      end

      test "what is not understood is named, with the forms" do
        { duration: ["5", "-1ms", "1gbit", "", "ms", "1e3s", "1.s"], bandwidth: ["0gbit", "1gb", "100", "", "-1mbit"],
          size: ["10gbit", "5%", "", "-1"] }.each do |kind, texts|
          texts.each do |text|
            error = assert_raises(UsageError, "#{kind} #{text}") { Units.public_send(kind, text, "--it") }
            assert_match(/\A--it #{Regexp.escape(text)}: a #{kind} is written \d+/, error.message)
          end
        end
      end
    end
  end
end
