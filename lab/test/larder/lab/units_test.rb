# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    class UnitsTest < ActiveSupport::TestCase
      test "durations are seconds, bandwidths bits a second, and sizes bytes" do
        { "0" => 0.0, "0.5ms" => 0.0005, "200us" => 0.0002, "200µs" => 0.0002, "200μs" => 0.0002, "50ns" => 5e-8,
          "2s" => 2.0, "2 S" => 2.0, ".5ms" => 0.0005, "5min" => 300.0, "1h" => 3600.0, "0ms" => 0.0 }
          .each { |text, seconds| assert_equal seconds, Units.duration(text, "--rtt"), text }
        { "1gbit" => 1e9, "100mbit" => 1e8, "2.5 Gbit/s" => 2.5e9, "10kbit" => 1e4, "1tbit" => 1e12, "800bit" => 800.0 }
          .each { |text, bits| assert_equal bits, Units.bandwidth(text, "--bandwidth"), text }
        %w[none Unlimited].each { |text| assert_nil Units.bandwidth(text, "--bandwidth"), text }
        { "10gb" => 10_000_000_000, "512MiB" => 536_870_912, "1048576" => 1_048_576, "1.5kB" => 1500,
          "64 KiB" => 65_536, "12b" => 12, "1tb" => 10**12, "0" => 0 }
          .each { |text, bytes| assert_equal bytes, Units.size(text, "--size"), text }
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
