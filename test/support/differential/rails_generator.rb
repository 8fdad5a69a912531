# frozen_string_literal: true

# Generates the sequences by which LarderStore and Rails' own stores are compared: calls of Differential::RailsStage.

require "support/differential/known_differences"
require "support/differential/rails_stage"

module Differential
  # Calls of all of a store's methods with all options that Rails documents, over a few keys, so that they meet what
  # others left.
  class RailsGenerator
    NAMES = ['"a"', '"a"', '"a"', '"b"', '"b"', '"c"', ":a", "1", '["a", :b]', '["a", 1]', '"a/b"', '"é"',
             "name"].freeze
    ODD_NAMES = ['Named.new("a")', 'Versioned.new("a", "v1")', 'Versioned.new("a", "v2")',
                 '[Versioned.new("a", "v1"), "x"]', '{ a: 1, "b" => 2 }', "1.5", "nil", '""', '" "', "[]", '[""]',
                 "[nil]", '["a", nil]', '[["a"], :b]',
                 "{}", "true", '"k" * 200', '"k" * 300', '"é" * 140', '"é b/%?"', "-7", "2**70", '"a\0b"',
                 'Text.new("a")', 'Odd.new("odd")'].freeze

    VALUES = ['"text"', '+"text"', "1", "0", "-5", "nil", "nil", "true", "false", "1.5", ":symbol", '"7"', '"x" * 2000',
              '""', "[1, [nil]]", "{ a: 1 }", '"é"', '"bytes".b', "10"].freeze
    ODD_VALUES = ["2**64", 'Shape.new("s", 1)', "Time.at(0).utc", 'Thing.new("t")', "proc { 1 }", '"17"', '"-3"',
                  '" 8 "', '"1e3"', "3.days", '["long"] * 500', 'Text.new("sub")', "Float::NAN", "-0.0", "1r", '"\xFF"',
                  '"é".encode("UTF-16LE")', "Object.new.tap { |thing| def thing.a = 1 }", "name", "{ name => [name] }",
                  "Set.new([1])", '"\x00\x11\x01".b', '"\x04\bi\x06".b', "2**62", "(2**63) - 1"].freeze

    LIVES = ["nil", "1", "5", "5.0", "60", "0.5", "5.seconds", "1.minute", "10"].freeze
    ODD_LIVES = ["0", "-1", "0.002", "1e-9", "-1.second", "Float::INFINITY", "1e12", '"5"', "Time.now", "true", "false",
                 "1r", "10**30", "5.minutes.from_now"].freeze
    WAITS = %w[0 0.4 0.5 0.6 1 1.5 4.9 5 5.1 6 10 11 59 61 300].freeze
    RACES = ["nil", "0", "1", "5", "10", "10.seconds", "0.5"].freeze
    NAMESPACES = ["nil", '"n"', '"n"', '""', ":n", '-> { "called" }', '"n:a"'].freeze
    VERSIONS = ["nil", '"v1"', '"v2"', "1", ":v1", "false"].freeze
    AMOUNTS = ["1", "1", "2", "-3", "10", "0", "100"].freeze
    # What is counted, and what it is counted from.
    COUNTED = KnownDifferences::COUNTED
    NUMBERS = ["1", "0", "-5", "10", '"7"', '"-3"', "2**40", "10_000"].freeze
    PATTERNS = ["/a/", "/\\Aa/", "/b\\z/", "/./", "/[ab]/", "/é/", "/n/", "/A/i", "/nothing/"].freeze
    SWITCHES = %w[true true false nil].freeze

    OPTIONS = {
      expires_in: LIVES, namespace: NAMESPACES, version: VERSIONS, race_condition_ttl: RACES, skip_nil: SWITCHES,
      force: SWITCHES, raw: SWITCHES, compress: SWITCHES, compress_threshold: %w[1 100 1024],
      expire_in: LIVES, expired_in: LIVES, pool: %w[1 nil],
      expires_at: ["nil", "Time.now + 5", "Time.now - 5", "Time.now", "5.seconds.from_now", "Time.now.to_f + 5"]
    }.freeze
    WRITE_OPTIONS = OPTIONS.merge(unless_exist: SWITCHES).freeze

    # From Rails 8.1 on all stores limit keys, read and write counters, and can be given a namespace.
    RAILS_8_1 = ActiveSupport.version >= Gem::Version.new("8.1")
    SETUPS = [
      "{}", "{}", "{}", "{}", '{ namespace: "n" }', "{ expires_in: 5 }", "{ expires_in: 60, race_condition_ttl: 5 }",
      "{ compress: true, compress_threshold: 1 }", "{ compress: true }", "{ raw: true }", "{ skip_nil: true }",
      '{ namespace: -> { "called" } }', "{ race_condition_ttl: 10 }", "{ expired_in: 5 }", "{ pool: 1 }",
      "{ serializer: Marshal }", "{ coder: Marshal }", '{ version: "v1" }',
      *("{ max_key_size: 100 }" if RAILS_8_1)
    ].freeze
    CLASSES = [nil, nil, nil, nil, nil, '"plain"', '"tenant"', '"keys"', '"versions"', '"writer"', '"changing"',
               '"changing"'].freeze

    EVENTS = %w[read write fetch_hit generate read_multi write_multi delete delete_multi increment decrement exist?
                delete_matched cleanup].freeze

    # @param random [Random]
    def initialize(random)
      @random = random
    end

    # @return [Array(String, String)] sources of the store's options and of the name of its class, or nil
    def setup
      [pick(SETUPS), (name = pick(CLASSES)) && name.delete('"')]
    end

    # @param count [Integer]
    # @return [Array<String>]
    def steps(count)
      Array.new(count) { chance(3) ? race : step }.flatten.first(count)
    end

    private

    def pick(list)
      list[@random.rand(list.size)]
    end

    def chance(percent)
      @random.rand(100) < percent
    end

    def step
      case @random.rand(100)
      when 0...82 then call(2)
      when 82...91 then "later(#{pick(WAITS)})"
      else surroundings
      end
    end

    # One renews an entry that has expired: what others read meanwhile, and what is left where that fails.
    def race
      given = pick(NAMES)
      life = pick(LIVES.drop(1))
      block = pick(["[store.read(#{given})]", '(raise "boom")', "later(1)", value])
      listed = ["race_condition_ttl: #{pick([*RACES, "60", "400"])}", (option(OPTIONS) if chance(30))]
      ["store.write(#{given}, #{value}, expires_in: #{life})", "later(#{life} + #{pick(WAITS)} - 0.002)",
       "store.fetch(#{given}, #{listed.compact.join(", ")}) { #{block} }", "store.read(#{given})"]
    end

    def surroundings
      case @random.rand(14)
      when 0, 1, 2 then "listen(#{pattern})"
      when 3, 4, 5, 6 then "unlisten"
      when 7 then "define(:#{pick(RailsStage::OVERRIDES.keys)})"
      when 8 then "undefine"
      when 9 then chance(30) ? "stub(:#{pick(RailsStage::OVERRIDES.keys)})" : "back"
      when 10 then "copy(#{pick(['namespace: "copy"', "expires_in: 5", "namespace: nil", "compress: true"])})"
      when 11 then "back"
      when 12 then "raise_on_negative(#{chance(30)})"
      else pick(['name << "x"', 'name.replace("a")', "store.options[:expires_in] = #{pick(LIVES)}; nil",
                 "store.silence!; nil", "store.options[:namespace] = #{pick(NAMESPACES)}; nil"])
      end
    end

    def pattern
      pick([%("cache_#{pick(EVENTS)}.active_support"), "/cache_#{pick(EVENTS).delete("?")}/", "/active_support/"])
    end

    # One call of the store; blocks may hold others down to `depth`.
    def call(depth)
      case @random.rand(100)
      when 0...20 then caught("store.fetch(#{arguments(name, 40)}) #{block(depth)}")
      when 20...36 then "store.read(#{arguments(name, 20)})"
      when 36...39 then "store.write(#{arguments("#{COUNTED}, #{pick(NUMBERS)}", 45, WRITE_OPTIONS)})"
      when 39...56 then "store.write(#{arguments("#{name}, #{value}", 45, WRITE_OPTIONS)})"
      when 56...62 then "store.read_multi(#{arguments(names, 20)})"
      when 62...68 then "store.write_multi(#{arguments(pairs, 35, WRITE_OPTIONS)})"
      when 68...74 then caught("store.fetch_multi(#{arguments(names, 30)}) #{block(depth)}")
      else other_call
      end
    end

    def other_call
      case @random.rand(RAILS_8_1 ? 28 : 24)
      when 0, 1, 2 then "store.delete(#{arguments(name, 15)})"
      when 3, 4, 5 then "store.exist?(#{arguments(name, 20)})"
      when 6, 7, 8, 9 then "store.increment(#{counting})"
      when 10, 11 then "store.decrement(#{counting})"
      when 12, 13 then "store.delete_multi(#{arguments("[#{names}]", 15)})"
      when 14, 15 then "store.delete_matched(#{arguments(pick(PATTERNS), 25, { namespace: NAMESPACES })})"
      when 16, 17 then "store.cleanup"
      when 18 then "store.clear(namespace: nil)"
      when 19, 20 then "store.fetch(#{arguments(name, 20)})"
      when 21, 22 then "store.mute { #{call(0)} }"
      when 23 then "store.read(#{pick([name, COUNTED])}, raw: true)"
      when 24, 25 then "store.read_counter(#{counter}#{listed_options(20)})"
      when 26 then "store.write_counter(#{counter}, #{pick(NUMBERS)}#{listed_options(45)})"
      else "store.namespace = #{pick(NAMESPACES)}; store.namespace.class"
      end
    end

    # Lives of a counter that expires at once; what is below 1e-9 Rails refuses in expires_in, not in its aliases.
    AT_ONCE = Regexp.union(/expires_at: Time\.now(?: - 5)?(?! \+|\.)/, /expires_in: 1e-9/,
                           /expired?_in: (?:1e-9|0(?![.\d])|-1(?:\.second)?)/)
    private_constant :AT_ONCE

    # Increments take keywords in Rails' stores that keep entries here, a Hash in none of them.
    # A counter that expires at once lives for a millisecond, in which a clock that stands still stays.
    def counting
      given = [counter, (amount if chance(60)), (option_list(OPTIONS) if chance(40))]
      given.compact.join(", ").gsub(AT_ONCE, "expires_in: 5")
    end

    def counter
      chance(80) ? COUNTED : name
    end

    def amount
      chance(97) ? pick(AMOUNTS) : "1.9"
    end

    # For what takes keywords alone.
    def listed_options(percent)
      ", #{option_list(WRITE_OPTIONS)}" if chance(percent)
    end

    def caught(source)
      source.include?("throw") ? "catch(:out) { #{source} }" : source
    end

    def name
      chance(88) ? pick(NAMES) : pick(ODD_NAMES)
    end

    def names
      Array.new(chance(4) ? 0 : 1 + @random.rand(4)) { name }.join(", ")
    end

    def pairs
      given = Array.new(chance(4) ? 0 : 1 + @random.rand(3)) { name }.uniq
      "{ #{given.map { |name| "#{name} => #{value}" }.join(", ")} }"
    end

    def value
      chance(85) ? pick(VALUES) : pick(ODD_VALUES)
    end

    # The arguments with options behind them, in `percent` of the calls.
    def arguments(given, percent, known = OPTIONS)
      return given unless chance(percent)

      listed = option_list(known)
      added = case @random.rand(12)
              when 0...8 then listed
              when 8, 9 then "{ #{listed} }"
              when 10 then pick(["nil", "{}", "options"])
              else "{ #{listed} }.freeze"
              end
      [given, added].reject(&:empty?).join(", ")
    end

    def option_list(known)
      Array.new(1 + @random.rand(3)) { option(known) }.uniq { |source| source[/\A\w+/] }.join(", ")
    end

    def option(known)
      name = pick(known.keys)
      values = known.fetch(name)
      "#{name}: #{pick(values.equal?(LIVES) && chance(12) ? ODD_LIVES : values)}"
    end

    def block(depth)
      return "{ #{value} }" if depth.zero? || chance(60)

      case @random.rand(16)
      when 0 then '{ raise "boom" }'
      when 1 then "{ throw :out, #{value} }"
      when 2 then "{ break #{value} }"
      when 3 then "{ next #{value} }"
      when 4, 5 then "{ |_, entry| entry.expires_in = #{pick(LIVES)}; #{value} }"
      when 6 then "{ |_, entry| entry.expires_at = Time.now + 7; #{value} }"
      when 7 then "{ |_, entry| entry.version = #{pick(VERSIONS)}; #{value} }"
      when 8, 9, 10 then "{ #{call(depth - 1)}; #{value} }"
      when 11 then "{ #{pick(["listen(#{pattern})", "unlisten"])}; #{value} }"
      when 12 then "{ later(#{pick(WAITS)}); #{value} }"
      when 13 then "{ |given, entry| [copy(given), entry.class, entry&.expires_in, copy(entry&.version)] }"
      when 14 then "{ define(:#{pick(RailsStage::OVERRIDES.keys)}); #{value} }"
      else ""
      end
    end
  end
end
