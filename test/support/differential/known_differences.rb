# frozen_string_literal: true

# The list of what LarderStore does differently from MemoryStore and FileStore, and why. What is on it is in
# docs/reference/differences.md, too.

require "active_support/version"

module Differential
  # Of three kinds: what is told nobody, what does not matter for the steps that follow, and what does.
  module KnownDifferences
    COUNTING = /store\.(?:in|de)crement\b/
    ANNOUNCE_COUNTING = ActiveSupport::VERSION::MAJOR >= 8

    # What Rails' stores answer here is what they have at hand: an Array, a Hash of entries, a number, a path.
    UNTOLD = /\A(?:store\.mute \{ )*store\.(?:write_multi|cleanup|clear|delete_matched)\b/
    ERROR = /\A[\w:]+Error: /

    # The source of the name of what holds nothing but integers, and texts that are one.
    COUNTED = '"count"'

    NO_NUMBER = /\ANoMethodError: "undefined method [`']to_i'/

    # The version of what a list, Hash or Struct names is "", not nil.
    COUNTING_LIST = /store\.(?:in|de)crement\((?:[\[{]|Named\.new)/
    LISTED = %r{"a/b"|\[\[?"a"\]?,|\{ a: 1|(?:Named|Versioned)\.new\("a"}

    # How Rails' read_multi and fetch_multi refuse a name: before Rails 8.0 when they have read, and dropped, those
    # before it.
    BLANK = 'ArgumentError: "key cannot be blank"'

    # name => what it looks like; the steps that follow may differ, too
    FOR_GOOD = {
      "counting a value without to_i" => lambda do |step, seen, other, *|
        step.match?(COUNTING) && !step.include?(COUNTED) &&
          (seen[:result] == "NilClass nil" || other[:result].match?(NO_NUMBER)) # raised in a block, perhaps
      end,
      "the version of a counter" => lambda do |step, _, _, before, *|
        step.match?(LISTED) && [*before, step].any?(COUNTING_LIST)
      end,
      "an expired counter" => lambda do |_, seen, other, before, *|
        before.any?(COUNTING) && before.any?(/later/) && before.any?(/race_condition_ttl/) &&
          other[:result].include?("Integer") && seen[:result] != other[:result]
      end
    }.freeze

    WRONG_VALUE = /\AArgumentError: "(?::\w+ of LarderStore is|options of LarderStore are) /

    # The same, and the steps that follow may not.
    ONCE = {
      "a wrong value of an option" => lambda do |_, seen, other, *|
        seen[:result].match?(WRONG_VALUE) && other[:result].match?(ERROR)
      end,
      "deleting an expired entry" => lambda do |step, seen, other, before, answers|
        step.match?(/store\.delete/) && before.any?(/expire|later/) && seen[:events] == other[:events] &&
          (fewer?(seen[:result], other[:result]) ||
            ((before.any?(/cleanup/) || answers.include?(BLANK)) && fewer?(other[:result], seen[:result])))
      end
    }.freeze

    # What is not compared, see #told, #events and #ends?; and what the generator leaves out.
    NOT_COMPARED = ["unspecified return values", "events of counters", "events of unless_exist",
                    "the size in the event of a cleanup", "a batch with an unserializable value"].freeze
    LEFT_OUT = ["clearing a namespace", "compressing by default", "compressing by a threshold",
                "an expiry of NaN", "the last millisecond", "decrementing by a String or nil"].freeze

    # Larder does as either.
    AMONG_THEMSELVES = "Rails' stores differ"

    NAMES = [*FOR_GOOD.keys, *ONCE.keys, *NOT_COMPARED, *LEFT_OUT, AMONG_THEMSELVES].freeze

    module_function

    # @param kind [Symbol] of store that `other` was seen of
    def same?(step, seen, other, kind)
      told(step, seen, kind) == told(step, other, kind)
    end

    # @param steps [Array<String>] up to the one that differs
    # @param answers [Array<String>] to the steps before it
    # @return [Array(String, Boolean), nil] the name, and whether the steps that follow may differ, too
    def find(steps, seen, other, answers)
      *before, step = steps
      { FOR_GOOD => true, ONCE => false }.each do |list, matters|
        name, = list.find { |_, applies| applies.call(step, seen, other, before, answers) }
        return [name, matters] if name
      end
      nil
    end

    # Of many entries of which one cannot be serialized, Rails' stores keep those that came before it.
    def ends?(step, seen)
      step.match?(/_multi/) && seen[:result].start_with?("TypeError")
    end

    def told(step, seen, kind)
      untold = step.match?(UNTOLD) && !seen[:result].match?(ERROR)
      { result: untold ? nil : seen[:result], events: events(step, seen[:events], kind) }
    end

    # MemoryStore asks itself what is there before it writes; how many entries there are before a cleanup depends on
    # what was dropped before.
    def events(step, events, kind)
      events = events.grep_v(unlike(kind)) if step.match?(COUNTING)
      events = events.grep_v(/\Acache_exist\?\./) if kind == :memory && step.include?("unless_exist")
      events = events.grep_v(/\Acache_cleanup\./) if step.include?("store.cleanup")
      events
    end

    # Rails' stores announce that they write what is counted for the first time, and before Rails 8 nothing else.
    # MemoryStore calls it by the name that it was given, not by its key.
    def unlike(kind)
      ANNOUNCE_COUNTING && kind == :file ? /\Acache_write\./ : /\Acache_(?:increment|decrement|write)\./
    end

    # What had expired counts as not there.
    def fewer?(own, other)
      return own == "FalseClass false" && other == "TrueClass true" unless own.start_with?("Integer")

      own[/-?\d+/].to_i < other[/-?\d+/].to_i
    end
  end
end
