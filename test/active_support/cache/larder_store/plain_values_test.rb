# frozen_string_literal: true

# The bytes and flags of plain values, pinned: files outlive the version that wrote them. And what is read where bytes
# and flags do not go together.

require "support/store_case"
require "fiddle"

module LarderStoreTests
  class PlainValuesTest < StoreCase
    FIXNUM = (2**62) - 1
    NEVER = 0

    # What is stored for a value: its bytes and the kind in its flags.
    FORMAT = [
      ["text", "text", 1], ["é", "\xC3\xA9", 1], ["", "", 1], ["\xFF", "\xFF", 1], ["a\0b", "a\0b", 1],
      ["bin\xFF".b, "bin\xFF", 2], ["".b, "", 2], ["ascii".dup.force_encoding("US-ASCII"), "ascii", 3],
      ["\xE9".dup.force_encoding("US-ASCII"), "\xE9", 3], [0, "\0" * 8, 4], [1, "\x01#{"\0" * 7}", 4],
      [-1, "\xFF" * 8, 4], [258, "\x02\x01#{"\0" * 6}", 4], [FIXNUM, "#{"\xFF" * 7}\x3F", 4],
      [-FIXNUM - 1, "#{"\0" * 7}\xC0", 4], [0.0, "\0" * 8, 5], [-0.0, "#{"\0" * 7}\x80", 5],
      [1.5, "#{"\0" * 6}\xF8\x3F", 5], [Float::INFINITY, "#{"\0" * 6}\xF0\x7F", 5], [5e-324, "\x01#{"\0" * 7}", 5],
      [nil, "", 6], [true, "", 7], [false, "", 8], [:symbol, "symbol", 9], [:é, "\xC3\xA9", 9], [:"", "", 9],
      ["x" * 63, "x" * 63, 1], ["x" * 64, "x" * 64, 12], ["x" * 4096, "x" * 4096, 12], ["x" * 4097, "x" * 4097, 1],
      ["é" * 32, "\xC3\xA9" * 32, 1], [("x" * 64).b, "x" * 64, 2]
    ].freeze

    # What goes to the coder.
    class Sub < String; end
    OTHER = [
      "\xE9".b.to_sym, Sub.new("sub"), "with".dup.tap { |text| text.instance_variable_set(:@a, 1) }, Comparable,
      Time.at(1r / 3)
    ].freeze

    # What Larder::Tree knows: bytes as in ext/larder/value/tree_format.h.
    TREES = [
      FIXNUM + 1, -FIXNUM - 2, 2**64, "é".encode("UTF-16LE"), "é".encode("ISO-8859-1"), [], {}, 1r, 1i, 1..2,
      Time.at(0), [{ "a" => 1 }, { "a" => nil }]
    ].freeze

    def record_of(name = "key", cache = store)
      Larder::Store::Records.new(cache.cache).get(name, nil)&.first(3)
    end

    def without(&block)
      Larder::Store::FastPath.without(&block)
    end

    # Through either path, as both write the same.
    def both
      [yield, without { yield }].uniq.then { |answers| assert_equal(1, answers.size, answers.inspect) && answers.first }
    end

    test "bytes and flags of every kind" do
      FORMAT.each do |value, bytes, kind|
        both do
          store.write("key", value)
          assert_equal [bytes.b, kind, NEVER], record_of, value.inspect
        end
        both do
          found = store.read("key")
          assert_equal [value.class, value.inspect], [found.class, found.inspect]
          assert_equal value.encoding, found.encoding if value.is_a?(String)
          assert_not_predicate found, :frozen? if value.is_a?(String)
        end
      end
    end

    # A String whose bytes Ruby has not looked at yet. A copy would know what the String knows.
    def unscanned(text)
      [text].pack("a*").force_encoding("UTF-8")
    end

    test "a String whose code range Ruby has wrong is read with that of its bytes" do
      text = +"Größe"
      text.valid_encoding?
      text.slice!(2, 9) # after which Ruby 3.1 takes it for text that is not ASCII
      both do
        store.write("key", text)
        assert_equal 1, { "Gr" => 1 }[store.read("key")]
      end
    end

    test "a short String is not scanned for the cache, and one that is broken stays so" do
      ["text", "é", "\xFF"].each do |text|
        both do
          store.write("key", unscanned(text))
          assert_equal 1, record_of[1]
          assert_equal [text, text.valid_encoding?], store.read("key").then { |found| [found, found.valid_encoding?] }
        end
      end
    end

    test "a String that is changed while it waits to be stored is stored as it was" do
      without do
        text = +"text" * 100
        record = Larder::Store::Records.new(store.cache).plain(text, nil, nil, nil, nil, 1, true)
        text.setbyte(0, 0xFF)
        assert_equal ["text" * 100, 12], record.first(2)
      end
    end

    # What Ruby knows of a String without looking at it: two bits of its flags, ENC_CODERANGE_MASK of Ruby.
    def code_range(text)
      flags = Fiddle::Pointer.new(Fiddle.dlwrap(text))[0, Fiddle::SIZEOF_LONG].unpack1("L!")
      %i[unknown ascii valid broken][(flags >> 20) & 3]
    end

    test "Ruby's flags are where this test looks for them" do
      { "a" => :ascii, "é" => :valid, "\xFF" => :broken }.each do |text, known|
        copy = unscanned(text)
        assert_equal :unknown, code_range(copy)
        copy.valid_encoding?
        assert_equal known, code_range(copy)
      end
    end

    test "a String of 64 bytes to 4 KB that is read has its code range, so that views need not scan it" do
      { "x" * 63 => :unknown, "x" * 64 => :ascii, "é" * 32 => :valid, "x" * 4096 => :ascii,
        "#{"x" * 4094}é" => :valid, "é" * 4096 => :unknown, "\xFF" * 64 => :unknown,
        "#{"é" * 32}\xC3" => :unknown }.each do |text, known|
        both do
          store.write("key", text)
          store.write("versioned", text, version: "1")
          texts = [store.read("key"), store.read_multi("key")["key"], store.read("versioned", version: "1")]
          assert_equal [[text, known]] * 3, texts.zip(texts.map { |found| code_range(found) })
        end
      end
    end

    test "the code range of a text is what Ruby finds, for all that a character can begin with" do
      bytes = [*0x7E..0x82, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF,
               0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF]
      tails = bytes.product(bytes).map { |pair| pair.pack("C*") }
      (0..255).each do |first|
        # At the beginning of a block of 64 bytes, and across its end; the text ends there or goes on.
        [["a" * 64, ""], ["a" * 126, ""], ["a" * 127, "z" * 64]].each do |before, after|
          texts = ["", *bytes.map(&:chr), *tails, *tails.map { |tail| tail + "\x80".b }].map do |tail|
            (before.b + first.chr.b + tail.b + after.b).force_encoding("UTF-8")
          end
          store.write_multi(texts.each_with_index.to_h { |text, i| [i.to_s, text] })
          found = store.read_multi(*(0...texts.size).map(&:to_s))
          found.each_value do |text|
            expected = unscanned(text)
            known = expected.valid_encoding? ? code_range(expected) : :unknown
            assert_equal known, code_range(text), text.b.inspect unless known == code_range(text)
          end
          assert_equal texts, found.values
        end
      end
    end

    test "NaN keeps its bits, and zero its sign" do
      [Float::NAN, -Float::NAN, [0x7FF8000000000123].pack("Q").unpack1("D"), -0.0].each do |number|
        both { store.write("key", number) && record_of }
        both { assert_equal [number].pack("D"), [store.read("key")].pack("D") }
      end
    end

    test "lists, hashes and what else is known are bytes of their own kind" do
      TREES.each do |value|
        both do
          store.write("key", value)
          bytes, flags, = record_of
          assert_equal [Larder::Tree.dump(value, false), 10], [bytes, flags], value.inspect
          assert_equal value, store.read("key")
        end
      end
    end

    test "what is not plain is Rails' coder's" do
      OTHER.each do |value|
        both do
          store.write("key", value)
          bytes, flags, = record_of
          assert_equal ["\0\x11".b, 0], [bytes[0, 2], flags], value.inspect
          assert_equal value, store.read("key")
        end
      end
    end

    test "a String with methods of its own is Rails' coder's, which leaves them behind" do
      own = +"own"
      def own.shout = upcase
      both { store.write("key", own) && [store.read("key"), record_of] }
      assert_equal ["own", 0], [store.read("key"), record_of[1]]
    end

    test "a key that is a list gives the version that is empty" do
      both do
        store.write(["a", 1], 1)
        assert_equal 128 + 4, record_of("a/1")[1]
      end
      both do
        store.write("key", 1, version: "")
        assert_equal 128 + 4, record_of[1]
      end
    end

    # expires_in, race_condition_ttl => bits of the grace, and the grace in seconds: five minutes, or race_condition_ttl
    # where that is more; rounded up to what the flags can say.
    GRACES = {
      [0.5, nil] => [5, 300], [100_000, nil] => [5, 300], [1, 1] => [5, 300], [1, 300] => [5, 300],
      [1, 301] => [6, 3600], [1, 3601] => [7, 86_400], [1, 86_400] => [7, 86_400]
    }.freeze

    test "the grace after the expiry is in the flags" do
      freeze_time
      GRACES.each do |(expires_in, race), (bits, seconds)|
        both do
          store.write("key", nil, expires_in: expires_in, race_condition_ttl: race)
          kept = ((Time.now.to_f + expires_in) * 1000).floor + (seconds * 1000)
          assert_equal ["", 6 | (bits << 4), kept], record_of, [expires_in, race].inspect
        end
      end
    end

    test "a grace longer than the flags can say is for Rails' coder" do
      both { store.write("key", 1, expires_in: 10, race_condition_ttl: 86_401) }
      assert_equal 0, record_of[1]
      assert_equal 1, store.read("key")
    end

    test "stores with a coder or serializer of their own have it asked" do
      [{ coder: Marshal }, { serializer: Marshal }].each do |options|
        own = new_store("own.larder", **options)
        both do
          own.write("key", "text")
          assert_equal 0, record_of("key", own)[1]
          assert_equal "text", own.read("key")
        end
      end
    end

    test "what does not become smaller is not compressed, and stays plain" do
      packed = new_store("packed.larder", compress: true, compress_threshold: 1)
      both do
        packed.write_multi({ "number" => 1, "short" => "ab", "long" => "x" * 5000 })
        assert_equal([4, 1, 0], %w[number short long].map { |name| record_of(name, packed)[1] })
        assert_equal [1, "ab", "x" * 5000], packed.read_multi("number", "short", "long").values
      end
    end

    # ---- bytes and flags that do not go together ----

    BYTES = ["", "x", "\xFF", "12345678", "\0" * 8, "123456789", "é", "x" * 5000, "\0\x11", "12", "\0\x11\x01"].freeze

    # What can be seen of a record through the store, or the error that it raises.
    def views
      {
        read: -> { store.read("key") }, list: -> { store.read(["key"]) }, exist: -> { store.exist?("key") },
        fetch: -> { store.fetch("key", force: false) { break :missed } }, multi: -> { store.read_multi("key", :none) },
        fetch_multi: -> { store.fetch_multi("key") { break :missed } }
      }
    end

    def look(view)
      seen = views.fetch(view).call
      [seen.class, seen.inspect, seen.try(:encoding)]
    rescue StandardError => e
      [e.class, e.message]
    end

    def put(bytes, flags, ttl_ms)
      Larder::Store::Records.new(store.cache).set("key", [bytes, flags, ttl_ms], nil)
    end

    test "whatever the flags say of whatever bytes, both paths make the same of it" do
      views.each_key do |view|
        256.times do |flags|
          BYTES.each do |bytes|
            put(bytes, flags, 0)
            fast = look(view)
            put(bytes, flags, 0)
            assert_equal without { look(view) }, fast, [view, flags, bytes.b[0, 20]].inspect
          end
        end
      end
    end

    test "bytes that are not of their kind are a miss" do
      { 4 => "1234567", 5 => "123456789", 6 => "x", 7 => "x", 8 => "x", 9 => "\xFF", 10 => "", 15 => "x" }
        .each do |flags, bytes|
          views.except(:list).each_key do |view|
            put(bytes, flags, 0)
            assert_includes [nil, false, :missed, {}].map(&:inspect), look(view)[1], [view, flags].inspect
          end
        end
    end

    test "an entry whose expiry, less its grace, is long ago is expired" do
      [0x10, 0x50, 0x70].each do |grace|
        put("text", 1 | grace, 500) # kept for half a second: less than any grace
        both { assert_equal [nil, false], [store.read("key"), store.exist?("key")] }
      end
    end

    Node = Struct.new(:left, :right)

    test "a value that holds the same again and again is as small, and as soon there, as by Marshal" do
      lists = 22.times.reduce([]) { |inner, _| [inner, inner] }
      nodes = 24.times.reduce(Node.new) { |inner, _| Node.new(inner, inner) } # Marshal's: too many bytes otherwise
      circle = { "a" => [] }
      circle["a"] << circle << circle
      { lists: lists, nodes: nodes, circle: circle }.each_pair do |name, value|
        both do
          assert store.write(name, value)
          copy = store.read(name)
          assert_operator store.cache.get(name.to_s).bytesize, :<, 600
          first, second = copy.is_a?(Hash) ? copy["a"] : copy.to_a
          assert_same first, second
        end
      end
    end
  end
end
