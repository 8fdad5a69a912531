# frozen_string_literal: true

# Generates random sequences of what callers do to a store and around it, as Ruby source with the methods of
# Differential::Stage, so that what fails can be read and run.

module Differential
  # A few keys and many kinds of everything else, so that calls meet what others left.
  class Generator
    # Names of one entry or of a few.
    PLAIN_NAMES = [
      '"a"', '"a"', '"b"', '"c"', ":a", ":b", "1", "-7", '["a", :b]', '["a", 1]', '"a/b"', '["a"]', '+"a"', "name",
      '"é"', '["é", :x]', '"k" * 249'
    ].freeze
    ODD_NAMES = [
      '"é".b', '"\xFF"', '"\xFF".b', '"a".encode("UTF-16LE")', '"é".encode("UTF-16BE")', '"é".encode("ISO-8859-1")',
      '"\xE9".dup.force_encoding("US-ASCII")', '["é", "é".b]', '["é", "\xE9".dup.force_encoding("US-ASCII")]',
      '["a".b, "é"]', '["a".encode("UTF-16LE"), "b"]', '["\xFF", :a]', "2**70", "2**62", "-(2**62)", "(2**62) - 1",
      "1.5", "nil", '""', '" "', "[]", '[""]', '["", ""]', "[nil]", '["a", nil]', '[["a"], :b]', "[[1, 2], 3]",
      '{ a: 1, "b" => 2 }', 'Named.new("a")', 'Versioned.new("a", "v1")', 'Versioned.new("a", "v2")',
      '[Versioned.new("a", "v1"), "x"]', '[Named.new("a"), "b"]', '"k" * 250', '"k" * 251', '"k" * 4095', '"k" * 4096',
      '"é" * 2048', '["k" * 100, "l" * 200]', "true", 'Text.new("a")', '"é".to_sym', '"\xE9".b.to_sym', "Shape",
      '"a\0b"', '"a".dup.tap { |text| text.instance_variable_set(:@x, 1) }',
      '"a".dup.tap { |text| def text.to_param = "b" }',
      '[Text.new("a"), "b"]', '["a", 2**64]', '["a", 1.5]', ':""', 'Odd.new("odd")'
    ].freeze

    PLAIN_VALUES = [
      '"text"', '+"text"', '"é"', '"bytes".b', '"ascii".dup.force_encoding("US-ASCII")', "1", "-1", "0", "nil", "nil",
      "true", "false", "1.5", ":symbol", '"x" * 100', '"x" * 1024', '"x" * 1025', '""', "(2**62) - 1", "-(2**62)"
    ].freeze
    ODD_VALUES = [
      "-0.0", "0.0", "Float::NAN", "Float::INFINITY", "-Float::INFINITY", "5e-324", '"".b', '"\xFF"', '"é".b',
      '"é".encode("UTF-16LE")', '"é".encode("ISO-8859-1")', '"\xE9".dup.force_encoding("US-ASCII")', '"x" * 4095',
      '"x" * 4096', '"x" * 4097', '"y" * 262_143', '"y" * 262_144', '"z" * 300_000', '"w" * 600_000', "2**62",
      "2**64", "-(2**64)", '"é".to_sym', '"\xE9".b.to_sym', ':""', 'Text.new("sub")',
      '"iv".dup.tap { |text| text.instance_variable_set(:@x, 1) }', '"single".dup.tap { |text| def text.a = 1 }',
      "{ a: 1 }", "[1, [nil]]", 'Shape.new("s", 1)', "Time.at(0).utc", 'Thing.new("t")', "proc { 1 }", '"17"', '"-3"',
      '"\x00\x11"', '"\x04\x08i\x06".b', "1r", "10**30", "3.days", "Object.new.tap { |thing| def thing.a = 1 }", "name"
    ].freeze

    LIVES = [
      "nil", "0.001", "0.25", "1", "5", "5.0", "10", "60", "300", "301", "3600", "86_400", "5.seconds", "1.minute",
      "1.month", "0", "0.0", "-1", "-0.5", "-1.second", "1e-9", "Float::NAN", "Float::INFINITY", "1e12", "10**30",
      "1r", '"5"', "Time.now", "true", "false", "70_368_744_177", "0.5.seconds", "1e300", "0.137", "0.137", "0.611"
    ].freeze
    WAITS = %w[0 0.137 0.137 0.611 0.001 0.002 0.249 0.25 0.999 1 4.999 5 5.001 10 60 300].freeze
    NAMESPACES = [
      "nil", '""', '"n"', '"é"', '"é".b', '"n".encode("UTF-16LE")', '-> { "called" }', "-> { nil }", ":symbol", "5",
      'Text.new("n")', "false", '"\xE9".dup.force_encoding("US-ASCII")', '"n".b', '"n".encode("US-ASCII")', '"N" * 240'
    ].freeze
    SWITCHES = ["true", "false", "nil", "1"].freeze
    VERSIONS = ["nil", "false", '"v1"', '"v2"', '""', "1", ":v1", '"é"', '"v1".b'].freeze

    # Options of a call, and what they take.
    OPTIONS = {
      expires_in: LIVES, namespace: NAMESPACES, version: VERSIONS, skip_nil: SWITCHES, force: SWITCHES, raw: SWITCHES,
      compress: SWITCHES, unless_exist: SWITCHES, expire_in: LIVES, expired_in: LIVES,
      compress_threshold: ["0", "1", "100", "1024", "10_000", "nil", '"1"', "1.5"],
      race_condition_ttl: ["nil", "0", "0.5", "1", "5", "5.0", "10.seconds", "400", "-1", "false"],
      expires_at: ["nil", "Time.now + 5", "Time.now - 5", "Time.now", "Time.now.to_f + 5", "5.seconds.from_now",
                   "false"],
      pool: ["1", "nil"], single_flight: %w[true true true false nil 1], wait: ["nil", "0", "0.01", '"1"'],
      stale_if_error: ["nil", "60", "0.5", "0"], jitter: ["nil", "0", "2"],
      tags: ["nil", "[]", '"t"', '["t", :u]', ":t", "5", "Object.new", '"\xE9"', "[nil]"]
    }.freeze
    USUAL_OPTIONS = ["expires_in: 5", "expires_in: 1.minute", "expires_in: 0.25", "expires_in: 0.137",
                     "race_condition_ttl: 5", "skip_nil: true", 'namespace: "n"', "namespace: nil", "compress: true",
                     "raw: true", "single_flight: true", 'tags: "t"'].freeze

    # Options by which the outcome would depend on the moment, or show a coder's bytes, in which there is one.
    OF_THE_MOMENT = /expire|race|raw|stale/

    # Of the constructor.
    SETUPS = [
      "{}", "{}", "{}", '{ namespace: "n" }', "{ expires_in: 5 }", "{ expires_in: 1.minute, race_condition_ttl: 5 }",
      "{ compress: true }", "{ compress_threshold: 1 }", "{ coder: Marshal }", "{ serializer: Marshal }",
      "{ max_key_size: 100 }", "{ raw: true }", "{ skip_nil: true }",
      '{ namespace: -> { "called" } }', '{ namespace: "é".b }', "{ pool: 1 }", "{ expired_in: 5 }",
      "{ compressor: Zlib, compress: true, compress_threshold: 8 }", '{ namespace: "" }', "{ max_key_size: false }",
      "{ single_flight: true }", "{ expires_in: 5, stale_if_error: 60 }"
    ].freeze

    EVENTS = %w[read write fetch_hit generate read_multi write_multi delete].freeze

    # @param random [Random]
    # @param real_clock [Boolean] no steps whose outcome depends on the moment
    def initialize(random, real_clock: false)
      @random = random
      @real_clock = real_clock
    end

    # @return [String] source of the store's options
    def setup
      picked = pick(SETUPS)
      @real_clock && picked.match?(OF_THE_MOMENT) ? "{ expires_in: 1050 }" : picked
    end

    # @param count [Integer]
    # @return [Array<String>]
    def steps(count)
      Array.new(count) { step }
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
      when 82...90 then "later(#{pick(WAITS)})"
      else surroundings
      end
    end

    def surroundings
      case @random.rand(12)
      when 0 then "listen(#{pattern})"
      when 1 then "react(#{pattern}, #{pick([":start", ":finish"])}) { |payload| #{reaction} }"
      when 2, 3, 4 then "unlisten"
      when 5 then "log(:debug)"
      when 6, 7 then "log(#{pick(["nil", ":info", ":error"])})"
      when 8 then "store.#{pick(["silence!", "instance_variable_set(:@silence, false)"])}; nil"
      when 9 then "store.mute { #{call(1)} }"
      when 10 then "raise_on_negative(#{chance(30)})"
      else pick(['name << "x"', 'name.replace("a")', "options[:expires_in] = #{@real_clock ? 1060 : 60}",
                 "options.delete(:expires_in)"])
      end
    end

    def reaction
      pick([call(0), call(0), "payload.clear", "payload[:hit] = 5", "payload[:namespace] = payload[:expires_in] = 7",
            'raise "of a subscriber"', "later(#{pick(WAITS)})"])
    end

    def pattern
      pick([%("cache_#{pick(EVENTS)}.active_support"), "/cache_#{pick(EVENTS)}/", "/active_support/", "nil",
            '"another.event"'])
    end

    # One call of the store; blocks may hold others down to `depth`.
    def call(depth)
      case @random.rand(100)
      when 0...26 then fetch(depth)
      when 26...44 then "store.read(#{arguments(name, 20)})"
      when 44...62 then "store.write(#{arguments("#{name}, #{value}", 35)})"
      when 62...70 then "store.read_multi(#{arguments(names, 15)})"
      when 70...78 then "store.write_multi(#{arguments(pairs, 25)})"
      when 78...87 then fetch_multi(depth)
      else other_call
      end
    end

    def other_call
      case @random.rand(8)
      when 0, 1 then "store.delete(#{arguments(name, 5)})"
      when 2 then "store.increment(#{name}, #{pick(%w[1 -1 10])})"
      when 3 then "store.decrement(#{name})"
      when 4, 5 then "store.exist?(#{arguments(name, 5)})"
      when 6 then "store.fetch(#{arguments(name, 20)})"
      else pick(["store.clear", "store.delete_tagged(\"t\")", "store.clear(namespace: \"n\")",
                 "store.delete_multi([#{names}])", "store.namespace = #{pick(["nil", '"n"'])}",
                 "store.read(#{name}, raw: #{!@real_clock})"])
      end
    end

    def fetch(depth)
      caught("store.fetch(#{arguments(name, 35)}) #{block(depth)}")
    end

    def fetch_multi(depth)
      caught("store.fetch_multi(#{arguments(names, 25)}) #{block(depth)}")
    end

    def caught(source)
      source.include?("throw") ? "catch(:out) { #{source} }" : source
    end

    def name
      chance(72) ? pick(PLAIN_NAMES) : pick(ODD_NAMES)
    end

    def names
      return "*Array.new(150) { |i| \"many\#{i % #{pick([150, 7])}}\" }" if chance(4)

      Array.new(chance(4) ? 0 : 1 + @random.rand(5)) { name }.join(", ")
    end

    def pairs
      return "Array.new(150) { |i| [\"many\#{i % #{pick([150, 7])}}\", #{pick(PLAIN_VALUES)}] }.to_h" if chance(4)

      names = Array.new(chance(4) ? 0 : 1 + @random.rand(4)) { chance(80) ? name : pick(PLAIN_NAMES) }.uniq
      "{ #{names.map { |given| "#{given} => #{value(12)}" }.join(", ")} }"
    end

    def value(odd = 30)
      chance(100 - odd) ? pick(PLAIN_VALUES) : pick(ODD_VALUES)
    end

    # The arguments with options behind them, in `percent` of the calls.
    def arguments(given, percent)
      return given unless chance(percent)

      added = options
      [given, added].reject(&:empty?).join(", ")
    end

    def options
      pairs = Array.new(1 + @random.rand(2)) { option }.uniq { |source| source[/\A\w+/] }
      listed = pairs.join(", ")
      case @random.rand(20)
      when 0...10 then listed
      when 10...13 then "{ #{listed} }"
      when 13 then "nil"
      when 14 then "{}"
      when 15 then "options"
      when 16 then "{ #{listed} }.freeze"
      when 17 then "{ #{listed} }.with_indifferent_access"
      when 18 then pick(['{ "expires_in" => 5 }', "5", "false", "{ expires_in: 1050 }.tap { |hash| hash.default = 7 }",
                         "Hash.new { |hash, key| hash[key] = 1050 if key == :expires_in }", '"text"'])
      else "**{}"
      end
    end

    def option
      return "expires_in: #{pick(%w[1050 1050.0 21.minutes nil])}" if @real_clock && chance(60)
      return pick(@real_clock ? USUAL_OPTIONS.grep_v(OF_THE_MOMENT) : USUAL_OPTIONS) if chance(55)

      name = pick(@real_clock ? OPTIONS.keys.grep_v(OF_THE_MOMENT) : OPTIONS.keys)
      "#{name}: #{pick(OPTIONS.fetch(name))}"
    end

    def block(depth)
      return "{ #{value} }" if depth.zero? || chance(60)

      case @random.rand(22)
      when 0 then '{ raise "boom" }'
      when 1 then "{ throw :out, #{value} }"
      when 2 then "{ break #{value} }"
      when 3 then "{ next #{value} }"
      when 4, 5 then "{ |_, entry| entry.expires_in = #{life}; #{value} }"
      when 6 then "{ |_, entry| entry.expires_at = #{@real_clock ? "nil" : "Time.now + 100_000"}; #{value} }"
      when 7 then "{ |_, entry| entry.version = #{pick(VERSIONS)}; #{value} }"
      when 8, 9, 10 then "{ #{call(depth - 1)}; #{value} }"
      when 11 then "{ #{call(depth - 1)} }"
      when 12 then "{ #{pick(["listen(#{pattern})", "react(#{pattern}) { |payload| #{reaction} }"])}; #{value} }"
      when 13 then "{ unlisten; #{value} }"
      when 14 then "{ log(#{pick([":debug", "nil"])}); #{value} }"
      when 15 then "{ later(#{pick(WAITS)}); #{value} }"
      when 16 then "{ |given| given << \"y\" if given.instance_of?(String) && !given.frozen?; #{value} }"
      when 17 then "{ store.namespace = #{pick(["nil", '"m"'])}; #{value} }"
      when 18 then "{ |given, entry| [copy(given), entry.class, entry&.expires_in, copy(entry&.version)] }"
      when 19 then pick(["&:to_s", "&->(given) { given }", "&->(given, entry) { entry.class.name }", "&method(:Array)"])
      when 20 then "{ store.options[:#{pick(["skip_nil] = true", "expires_in] = 1050", "pool] = 2"])}; #{value} }"
      else ""
      end
    end

    def life
      @real_clock ? pick(%w[1050 nil]) : pick(LIVES)
    end
  end
end
