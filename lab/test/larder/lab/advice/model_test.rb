# frozen_string_literal: true

require "test_helper"
require "support/sample_parts"

module Larder
  module Lab
    module Advice
      class ModelTest < ActiveSupport::TestCase
        setup do
          @parts = SampleParts.build
        end

        def model(reads: 20.0, rtt: 0.5e-3, seconds_a_bit: 1e-9)
          Model.new(@parts, Circumstances.new(reads: reads, rtt: rtt, seconds_a_bit: seconds_a_bit))
        end

        test "a write to a server is its serializer, compressor, store, round trip and bytes on the wire" do
          write = model.call("write", Choice.new("redis", "native", "zstd-3")).map(&:value)
          [50e-6, 60e-6, 100e-6, 0.5e-3, 2700 * 8e-9].zip(write) { |want, got| assert_in_delta want, got, 1e-12 }
        end

        test "the round trip of this host, in which a server was measured, is counted once" do
          @parts = SampleParts.build(round_trip: 40e-6)
          choice = Choice.new("redis", "native", "none")
          far, near = [0.5e-3, 40e-6].map do |rtt|
            model(rtt: rtt, seconds_a_bit: 0.0).call("read", choice).map(&:value)
          end
          [40e-6, 0, 50e-6, 0.5e-3, 0].zip(far) { |want, got| assert_in_delta want, got, 1e-12 }
          assert_in_delta 130e-6, near.sum, 1e-12
          now = model
          assert_in_delta now.mixed(choice).value * 21, now.line(choice, :rtt).cost(0.5e-3), 1e-9
        end

        test "a store of this machine has no wire" do
          read = model.call("read", Choice.new("larder", "larder", "none")).map(&:value)
          [40e-6, 0, 5e-6, 0, 0].zip(read) { |want, got| assert_in_delta want, got, 1e-12 }
        end

        test "Larder's store with a codec of its own is measured by itself" do
          read = model.call("read", Choice.new("larder", "marshal", "none")).map(&:value)
          assert_in_delta 12e-6, read[2], 1e-12
        end

        test "a call is the mean of a write and its reads" do
          choice = Choice.new("larder", "larder", "none")
          assert_in_delta (60e-6 + (3 * 45e-6)) / 4, model(reads: 3.0).mixed(choice).value, 1e-12
        end

        test "the line over each circumstance goes through the time itself" do
          now = model
          now.choices.each do |choice|
            { reads: 20.0, rtt: 0.5e-3, seconds_a_bit: 1e-9 }.each do |field, at|
              assert_in_delta now.mixed(choice).value * 21, now.line(choice, field).cost(at), 1e-9, "#{choice} #{field}"
            end
          end
        end

        test "what rounds differ by is in the interval, and what parts have in common is not in a difference" do
          @parts = SampleParts.build(wobble: 0.1)
          with, without = %w[zlib none].map { |name| model.mixed(Choice.new("redis", "native", name)) }
          assert_operator with.estimate.low, :<, with.value
          assert_operator with.estimate.high, :>, with.value
          difference = (model.mixed(Choice.new("redis", "native", "none")) - without).estimate
          assert_equal [0.0, 0.0], [difference.low, difference.high]
        end

        test "between two sizes a store takes what is between their times" do
          stores = SampleParts.results("store_calls", ["redis"], { sizes: [1000, 3000] })
          SampleParts.add(stores, "redis", [1, 1, 1], "read 1000" => 1e-6, "read 3000" => 3e-6)
          SampleParts.facts(stores, "redis", "refused" => [])
          codecs = SampleParts.results("parts", [], {})
          parts = Parts.new(nature: {}, codecs: codecs, stores: stores)
          assert_in_delta 2.5e-6, parts.storing("read", "redis", 2500).value, 1e-15
          assert_nil parts.storing("read", "redis", 3001)
        end

        test "values below Rails' threshold are not compressed" do
          assert_equal %w[none zstd-3 zlib], @parts.compressors("native")
          @parts.stub(:bytes, 1023) { assert_equal ["none"], @parts.compressors("native") }
        end
      end
    end
  end
end
