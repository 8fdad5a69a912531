# frozen_string_literal: true

require "test_helper"
require "stringio"
require_relative "../../bench/support/profile"

module Guards
  # bench/profile groups by names of functions, which change.
  class ProfileTest < ActiveSupport::TestCase
    DOCUMENT = File.read(File.expand_path("../../docs/profile.md", __dir__), encoding: "UTF-8")

    Bench::Profile::STEPS.each do |kind, steps|
      test "a #{kind} runs every function that bench/profile groups by, and the steps with the rest make the whole" do
        table = printed(kind)
        assert_equal [*steps.map(&:name), "the rest"], names(table)
        counts = table.scan(/\| ([\d,]+) \| -?\d+ %/).flatten.map { |text| Integer(text.delete(",")) }
        steps_alone = counts.zip([*steps, nil]).reject { |_, step| step&.of }.map(&:first)
        assert_in_delta Integer(table[/([\d,]+) instructions/, 1].delete(",")), steps_alone.sum, steps.size
        assert_predicate counts.min, :positive?
      end

      test "the table of a #{kind} in docs/profile.md has the steps that bench/profile prints" do
        assert_equal [*steps.map(&:name), "the rest"], names(DOCUMENT[/^## A #{kind}: .*?(?=^## |\z)/m])
      end
    end

    test "a step whose function was not called is named, with the place to correct" do
      dump = Bench::CallgrindFile.new(<<~DUMP.lines)
        events: Ir
        fl=(1) /src/get.c
        fn=(1) fast_fetch
        10 5
        cfi=(2) /src/hash.h
        cfn=(2) larder_get
        calls=1 40
        +2 7
        fi=(2)
        -1 3
        totals: 15
      DUMP
      assert_equal [8, 7, 3], [dump.total, dump.inclusive("larder_get"), dump.own("fast_fetch", /hash/)]
      step = Bench::Profile::Step.new("gone", ["fast_ready"])
      error = assert_raises(Larder::CLI::Failure) { step.instructions(dump) }
      assert_equal 'no instruction of fast_ready was counted for "gone"; correct STEPS in bench/support/profile.rb',
                   error.message
    end

    private

    def printed(kind)
      out = StringIO.new
      InstructionCounts.engine_key # the reason for skipping, where there is one
      assert_equal 0, Bench::Profile.new(out).run([kind])
      out.string
    rescue Unavailable => error
      skip error.message
    end

    def names(table)
      table.scan(/^\| ([^|]+) \| [\d,]+ \| \d+ % \|$/).flatten
    end
  end
end
