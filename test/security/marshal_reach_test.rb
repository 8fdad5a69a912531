# frozen_string_literal: true

require "support/store_case"
require "support/marshal_bomb"
require "json"

module Security
  # Marshal runs code of whoever made its bytes. How far it reaches: values that Rails' own coder was asked to keep, and
  # nothing else.
  class MarshalReachTest < StoreCase
    # Where Marshal may not be asked, asking is an error.
    module Forbidden
      def load(...) = Thread.current[:marshal_is_forbidden] ? raise(SecurityError, "Marshal.load") : super
      def dump(...) = Thread.current[:marshal_is_forbidden] ? raise(SecurityError, "Marshal.dump") : super
    end
    Marshal.singleton_class.prepend(Forbidden)

    setup { MarshalBomb.exploded = false }

    PLAIN = ["text", "bytes\xff".b, "", :symbol, 1, -(2**62), 2**200, 1.5, true, false, nil, [1, { "a" => [:b] }],
             Time.at(0), 1..2, Set[1], 1r].freeze

    test "the check works: Marshal is asked for what Larder does not know" do
      assert_raises(SecurityError) { without_marshal { store.write("key", [Comparable]) } }
    end

    test "plain values are written, read and fetched without Marshal" do
      without_marshal do
        PLAIN.each_with_index do |value, i|
          store.write("w#{i}", value)
          assert_equal [value], [store.read("w#{i}")]
          assert_equal [value], [store.fetch("f#{i}") { value }]
          assert_equal [value], [store.fetch("f#{i}") { flunk }]
        end
        assert_equal({ "w0" => "text" }, store.read_multi("w0"))
        assert_equal 3, store.increment("n", 3)
      end
    end

    test "a String that looks like Marshal's or Rails' bytes stays a String" do
      payload = Marshal.dump(MarshalBomb.new)
      entry = ActiveSupport::Cache::Entry.new(MarshalBomb.new)
      rails = ActiveSupport::Cache::Coder.new(Marshal, Zlib).dump(entry)
      [payload, "\x00\x11#{payload}".b, rails].each do |bytes|
        store.write("key", bytes)
        assert_equal bytes, store.read("key")
        store.write("raw", bytes, raw: true)
        assert_equal bytes.b, store.read("raw", raw: true).b
      end
      assert_not MarshalBomb.exploded
    end

    test "with :message_pack nothing is asked of Marshal, whatever is stored" do
      begin
        require "msgpack"
      rescue LoadError
        skip "the gem msgpack is not there"
      end
      cache = new_store(serializer: :message_pack)
      without_marshal do
        value = { "list" => [1, 2.5, nil, "three"], "time" => Time.at(0) }
        cache.write("key", value)
        assert_equal value, cache.read("key")
      end
    end

    test "a coder of one's own takes Marshal out of the picture" do
      coder = Module.new do
        def self.dump(entry) = JSON.generate([entry.value.to_s])
        def self.load(bytes) = ActiveSupport::Cache::Entry.new(JSON.parse(bytes).first)
      end
      cache = new_store(coder: coder)
      without_marshal do
        cache.write("key", [1, 2])
        assert_equal "[1, 2]", cache.read("key")
      end
    end

    test "the byte cache never asks Marshal" do
      payload = Marshal.dump(MarshalBomb.new)
      without_marshal do
        store.cache.set("key", payload)
        assert_equal payload, store.cache.get("key")
      end
      assert_not MarshalBomb.exploded
    end

    # One more loads nothing but what it has just dumped itself.
    test "of Larder's sources the serializers of that name alone ask Marshal for what was stored" do
      root = File.expand_path("../..", __dir__)
      files = Dir[File.join(root, "{lib,ext,engine/src}/**/*.{rb,c,h}")]
      asking = files.select { |file| File.readlines(file).any?(/^[^#*]*(?:\bMarshal\.|rb_marshal)/) }
      dumped_here = "lib/larder/codecs/tree/times.rb"
      assert_equal ["lib/larder/codecs/serializers/marshal.rb", dumped_here, "lib/larder/sessions/marshalled.rb"],
                   asking.map { |file| file.delete_prefix("#{root}/") }.sort
    end

    private

    def without_marshal
      Thread.current[:marshal_is_forbidden] = true
      yield
    ensure
      Thread.current[:marshal_is_forbidden] = false
    end
  end
end
