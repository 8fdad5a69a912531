# frozen_string_literal: true

require "test_helper"

module House
  # Words of this project's own that were replaced by the field's. They do not come back.
  class WordsTest < ActiveSupport::TestCase
    ROOT = File.expand_path("../..", __dir__)
    # replaced => by
    REPLACED = {
      /\bsoil(?:ed|s)?\b/              => "mark dirty, dirty",
      /\bimpatient\b/                  => "try",
      /\bdispensable\b/                => "victim, optional",
      /\bforesee(?:n|s)?\b|\bforesight\b/ => "prefetch",
      /\bstrays?\b/                    => "orphan",
      /\bsabotage/                     => "fault injection",
      /\blard_draft\b/                 => "lard_record_spec",
      /LARD_KEPT|\bkept_at_all\b|\bis kept, and the shard\b|\bkeep\(stored\b/ => "pinned",
      /\b(?:FAST_OTHERWISE|in_full)\b/ => "fallback, ordinary path",
      /\b(?:Announcements|Lossless)\b/ => "Instrumentation, JsonRoundTrip",
      /\b(?:SecondChance|StoodInFor)\b/ => "RetryFailed, ReplacedMethods",
      /\bnot had in time\b/            => "lock timeout",
      /\bhow gladly\b/                 => "eviction cost",
      /\bwhat is to come\b/            => "reserved, currently unused",
      /\b[Cc]ontestants?\b|\b[Pp]articipants?\b/ => "contender",
      /\bshortcuts in C\b/ => "fast path",
      /^# Owns\b/ => "a sentence that says what the file does",
      /\bwere loved for\b/             => "answer",
      /\bmend(?:s|ed|ing)?\b/          => "fix, repair, solve",
      /\bno like in\b/                 => "no equivalent in",
      /\b(?:larder-lab|bin\/lab) (?:percentiles|endurance|statistics)\b/ => "latency, soak, session-stats",
      /(?:\}|larder|memory) \(again\)/ => "A/A control"
    }.freeze
    SOURCES = Dir.glob(["*.md", "{bin,docs,engine,examples,exe,ext,lab,lib,proof,rakelib,test}/**/*.{c,h,rb,rake,md}"],
                       base: ROOT).grep_v(%r{/build/|\AREADME-|\Atest/house/words_test\.rb\z})

    test "there are sources" do
      assert_operator SOURCES.size, :>, 500
    end

    test "bounds in the engine and the glue are called MAX_ and MIN_" do
      found = SOURCES.grep(%r{\A(?:engine/(?:src|include)|ext)/}).flat_map do |path|
        text = File.read(File.join(ROOT, path), encoding: "UTF-8")
        text.scan(/\b(?:[A-Z]+_)?(?:MOST|LEAST|LONGEST|SHORTEST)_[A-Z_]+/).map { |name| "#{path}: #{name}" }
      end
      assert_empty found
    end

    REPLACED.each do |word, by|
      test "#{word.source} is #{by}" do
        found = SOURCES.flat_map do |path|
          lines = File.readlines(File.join(ROOT, path), encoding: "UTF-8").each_with_index
          lines.select { |line, _| line.match?(word) }.map { |_, index| "#{path}:#{index + 1}" }
        end
        assert_empty found
      end
    end
  end
end
