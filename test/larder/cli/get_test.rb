# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "json"
require "shellwords"
require "larder/cli"
require "larder/codecs"
require "support/command"

module Larder
  module CLI
    # `larder get` in processes of its own, on a file that this one has open.
    class GetTest < ActiveSupport::TestCase
      include TemporaryCaches
      include ::Processes
      include ::Command

      # As an application's class, which the command does not know.
      class Product
        def initialize
          @attributes = { "id" => 7, "name" => "Tea" }
          @new_record = false
        end
      end

      def file
        path_of("test.larder")
      end

      def store(**options)
        cache
        ActiveSupport::Cache.lookup_store(:larder_store, file, **options)
      end

      def get(key, *arguments, **settings)
        done("get", key, "--file", file, *arguments, **settings)
      end

      def json(key)
        JSON.parse(get(key, "--json"))
      end

      # @return [Array(Array<String>, String)] the layers of the encoding, and the value
      def encoding_and_value(key)
        json(key).values_at("encoding", "value")
      end

      test "an item is shown with all that is known of it" do
        store.write("products/7", { id: 7, "name" => "Tea" }, expires_in: 3600, tags: %w[a b], version: "v1")
        text = get("products/7").sub(/in 59 minutes.*|in 1 hour/, "TIME").sub(/most .* ago/, "most AGE ago")
        assert_equal <<~TEXT, text
          products/7

            size        21 bytes
            expires     TIME
            stored      at most AGE ago
            read        not lately
            tags        2
            version     "v1"
            encoding    Larder's own format

            {id: 7, "name" => "Tea"}
        TEXT
        known = json("products/7").values_at("size", "tags", "version", "reads", "stale", "note")
        assert_equal [21, 2, "v1", 0, false, nil], known
        assert_in_delta 3600, json("products/7")["ttl"], 120
        assert_equal [0, 0], cache.stats.values_at(:hits, :misses)
      end

      test "plain values are shown as Ruby writes them" do
        { "größe" => ["plain String (UTF-8)", "\"größe\""], "\xFF".b => ["plain String (ASCII-8BIT)", "\"\\xFF\""],
          7 => ["plain Integer", "7"], 1.5 => ["plain Float", "1.5"], nil => ["plain value", "nil"],
          true => ["plain value", "true"], false => ["plain value", "false"], :name => ["plain Symbol", ":name"],
          [1, { a: nil }] => ["Larder's own format", "[1, {a: nil}]"] }.each do |value, (encoding, text)|
          store.write("k", value)
          assert_equal [[encoding], text], encoding_and_value("k")
        end
        store.increment("n", 41)
        assert_equal [["counter"], "41"], encoding_and_value("n")
      end

      test "objects are shown by their structure, and their classes are not needed" do
        store.write("object", [Product.new])
        encoding, value = encoding_and_value("object")
        assert_equal ["entry of Rails", "frame of :marshal", "Marshal (its structure)"], encoding
        attributes = '@attributes={"id" => 7, "name" => "Tea"}'
        assert_equal "[#<Larder::CLI::GetTest::Product #{attributes}, @new_record=false>]", value
      end

      test "entries in the formats of Rails are shown" do
        value = { a: 1, list: ["x" * 60] * 3 }
        shown = "{a: 1, list: [#{(["\"#{"x" * 60}\""] * 3).join(", ")}]}"
        %i[marshal_7_0 marshal_7_1 message_pack].each do |name| # rubocop:disable Naming/VariableNumber
          serializer = ActiveSupport::Cache::SerializerWithFallback[name]
          coder = ActiveSupport::Cache::Coder.new(serializer, Zlib, legacy_serializer: name == :marshal_7_0) # rubocop:disable Naming/VariableNumber
          entry = ActiveSupport::Cache::Entry.new(value, version: "v2")
          cache.set("whole", coder.dump(entry))
          cache.set("small", coder.dump_compressed(entry, 1))
          assert_includes encoding_and_value("whole").last, shown.sub(/(, "x+"){2}/, "")[0, 60]
          encoding, = encoding_and_value("small")
          assert_equal "compressed (zlib)", encoding[1], name
          assert_match(/\{a: 1, list: \["x+", /, encoding_and_value("small").last)
        end
      end

      test "frames of codecs are shown, signed and compressed ones too" do
        secret = "sixteen bytes or more"
        { json: "JSON", native: "Larder's own format", message_pack: "MessagePack", xml: "XML",
          marshal: "Marshal (its structure)" }.each do |name, last|
          serializer = Serializers[name, sign_with: secret]
          signing = store(coder: Coder.new(serializer: serializer))
          signing.write("k", { "a" => ["x" * 4000, 1] }, compress: true, compress_threshold: 99)
          encoding, value = encoding_and_value("k")
          assert_equal ["signed frame (signature not verified)", "entry of Rails", "compressed (gzip)",
                        "frame of :#{name}", last], encoding
          assert_match(/xxxx/, value)
        end
      end

      test "a value of a compressor whose gem is missing is shown as it is stored" do
        lz4 = Codecs::Frame.compressed(Compressors::TABLE.fetch(:lz4), 100, "body of lz4" * 3, checksum: false)
        header = ["\x00\x11".b, [0x82, -1.0, -1].pack("CEl<")].join
        cache.set("k", header + lz4)
        out, = larder("get", "k", "--file", file, ruby: ["-w", "--disable-gems"])
        assert_match(/compressed \(lz4\), as it is stored/, out)
        assert_match(/compressor :lz4 needs the gem extlz4|cannot be decompressed/, out)
      end

      test "a bomb is not decompressed" do
        bomb = Zlib::Deflate.deflate("\0" * (80 << 20))
        cache.set("bomb", ["\x00\x11".b, [0x83, -1.0, -1].pack("CEl<"), bomb].join)
        assert_match(/cannot be decompressed: too large/, get("bomb"))
      end

      test "bytes of another program are shown as text or as bytes" do
        cache.set("text", "plain\nwords " * 6)
        cache.set("bytes", (0..255).to_a.pack("C*") * 2)
        assert_match(/encoding    bytes of text\n\n  "plain\\n" \\\n  "words plain\\n" \\\n/, get("text"))
        assert_match(/^  00000040  40 41 42 .* 4f  @ABCDEFGHIJKLMNO$/, get("bytes"))
        assert_match(/Not all is shown: the first 256 of 512 bytes. --raw writes all bytes.$/, get("bytes"))
      end

      test "raw bytes are written as they are" do
        bytes = Random.new(5).bytes(5000)
        store.write("k", bytes, version: "v1")
        out, err, code = larder("get", "k", "--raw", "--file", file)
        assert_equal [bytes, "", 0], [out.b, err, code]
        shown, code = in_terminal("get", "k", "--raw", "--file", file) { |screen| screen.shows?(/FILE/) }
        assert_match(/--raw writes 5,000 bytes that a terminal cannot show/, shown)
        assert_equal 2, code
      end

      test "hostile values end in a line" do
        random = Random.new(51)
        values = Array.new(60) do |i|
          heads = ["\x04\b", "\x00\x11\x01", "\x00\x11\x81", "\xC1\x01", "\xC1\xBF", "\xCC\x80", "\x01x\x9C",
                   "\x00\x04\b"]
          heads[i % 8].b + random.bytes(random.rand(60))
        end
        values.each do |value|
          (0..15).each do |kind|
            item = Cache::Item.new("k", value.bytesize, nil, nil, 0, 0, 0, nil, kind, false, false, false)
            view = Values::Decoder.new(item, value).view
            assert_operator view.node ? view.node.to_lines(80).sum(&:size) : 0, :<, 200_000
            assert_not_empty view.encoding
          end
        end
      end

      test "a stale value says how long it is kept" do
        store.write("old", "v", expires_in: 0.05, stale_if_error: 600)
        sleep 0.01 while cache.exist?("old")
        assert_match(/expires     it is stale, and kept for (9 minutes|10 minutes)/, get("old"))
        assert_equal true, json("old")["stale"]
      end

      test "keys of any bytes can be typed" do
        cache.set("a\0\xFF".b, "v")
        assert_match(/\Aa\\x00\\xFF\n/, get("a\\x00\\xFF"))
      end

      test "ActiveSupport is not loaded" do
        store.write("k", [Product.new, "x" * 5000], compress: true)
        code = "$LOAD_PATH.unshift(ARGV.shift); require 'larder/cli'; " \
               "Larder::CLI.run(ARGV); abort 'loaded' if defined?(ActiveSupport)"
        library = File.expand_path("../../../lib", __dir__)
        _, err, status = Open3.capture3(PLAIN, RbConfig.ruby, "-w", "-e", code, library, "get", "k", "--file", file)
        assert_equal ["", 0], [err, status.exitstatus]
      end

      test "wrong usage is explained" do
        cache.set("k", "v")
        message = /there is no key nope in #{file}\. .*larder keys '\*nope\*'/
        assert_equal 1, refused(message, "get", "nope", "--file", file)
        key = "it's; touch run; 'x"
        _, err, = larder("get", key, "--file", file)
        assert_equal ["keys", "*#{key}*"], Shellwords.split(err[/larder (keys '.*') finds/, 1])
        assert_equal 2, refused(/name the key to show/, "get", "--file", file)
        assert_equal 2, refused(/unexpected argument b: one key at a time/, "get", "a", "b", "--file", file)
        assert_equal 2, refused(/--raw and --json: give one of them/, "get", "k", "--raw", "--json", "--file", file)
      end
    end
  end
end
