# frozen_string_literal: true

# Every compressor, by the same tests: what goes in comes out, and what was not made by it does not.

require "test_helper"
require "support/codec_case"
require "active_support/all"
require "tmpdir"

class LarderCompressorsTest < ActiveSupport::TestCase
  include CodecCase

  TEXT = (["the quick brown fox jumps over the lazy dog"] * 2000).join(" ").b
  NOISE = Random.new(1).bytes(100_000)
  PAYLOADS = ["".b, "a".b, "\0".b * 100_000, TEXT, NOISE, "é" * 500, NOISE[0, 300]].freeze

  test "a program without ActiveSupport can decompress, and a store's reading loads it" do
    code = 'require "larder"; codec = Larder::Compressors.lookup(:gzip); frame = codec.deflate("a" * 99); ' \
           'abort "bytes" unless codec.unpack(frame) == "a" * 99; abort "loaded" if defined?(ActiveSupport); ' \
           'begin codec.inflate("foreign"); rescue ActiveSupport::Cache::DeserializationError; print "miss"; end'
    library = File.expand_path("../../../lib", __dir__)
    assert_equal "miss", IO.popen([RbConfig.ruby, "-I", library, "-e", code], err: File::NULL, &:read)
  end

  each_compressor do |name|
    test "#{name} brings bytes back" do
      compressor = Larder::Compressors.lookup(name)
      PAYLOADS.each { |bytes| assert_equal bytes.b, compressor.inflate(compressor.deflate(bytes)) }
      assert_equal Encoding::BINARY, compressor.inflate(compressor.deflate("é")).encoding
      assert_not_predicate compressor.inflate(compressor.deflate(TEXT)), :frozen?
    end

    test "#{name} makes text smaller, and frozen text too" do
      assert_operator Larder::Compressors.lookup(name).deflate(TEXT.dup.freeze).bytesize, :<, TEXT.bytesize / 10
    end

    test "#{name} reads no damaged bytes" do
      compressor = Larder::Compressors.lookup(name)
      frame = compressor.deflate(TEXT)
      random = Random.new(2)
      300.times do
        damaged = frame.dup
        at = random.rand(frame.bytesize)
        damaged.setbyte(at, damaged.getbyte(at) ^ (1 << random.rand(8)))
        assert_unreadable { compressor.inflate(damaged) }
        assert_unreadable { compressor.inflate(frame.byteslice(0, random.rand(frame.bytesize))) }
      end
    end

    # As it would be without a checksum, in Larder's own file.
    test "#{name} makes no more of damaged bytes than was promised" do
      compressor = Larder::Compressors.lookup(name, checksum: false)
      frame = compressor.deflate(TEXT)
      random = Random.new(3)
      300.times do
        damaged = frame.dup
        random.rand(1..4).times { damaged.setbyte(random.rand(frame.bytesize), random.rand(256)) }
        begin
          assert_operator compressor.inflate(damaged).bytesize, :<=, Larder::Compressor::MAX_BYTES
        rescue ActiveSupport::Cache::DeserializationError => error
          assert_predicate error.message, :present?
        end
      end
    end

    test "#{name} opens no bomb" do
      bomb = Larder::Compressors.lookup(name, max_bytes: 64 << 20).deflate("\0".b * (20 << 20))
      assert_operator bomb.bytesize, :<, 1 << 20
      error = assert_unreadable { Larder::Compressors.lookup(name, max_bytes: 1 << 20).inflate(bomb) }
      assert_match(/too large/, error.message)
      lying = lie_about_size(bomb, 1000)
      compressor = Larder::Compressors.lookup(name, checksum: false)
      grown = growth_of_memory { assert_unreadable { compressor.inflate(lying) } }
      assert_operator grown, :<, 150 << 20
    end

    test "#{name} stores nothing that it would not read again" do
      compressor = Larder::Compressors.lookup(name, max_bytes: 1000)
      assert_equal NOISE[0, 1000], compressor.inflate(compressor.deflate(NOISE[0, 1000]))
      assert_raises(Larder::UnserializableError) { compressor.deflate(NOISE[0, 1001]) }
    end

    test "#{name} reads what the others wrote, and Rails' zlib" do
      compressor = Larder::Compressors.lookup(name)
      each_compressor_here do |other|
        assert_equal TEXT, compressor.inflate(Larder::Compressors.lookup(other).deflate(TEXT))
      end
      assert_equal TEXT, compressor.inflate(Zlib.deflate(TEXT))
      assert_unreadable { Larder::Compressors.lookup(name, max_bytes: 1000).inflate(Zlib.deflate(TEXT)) }
    end

    test "#{name} serves threads at once" do
      compressor = Larder::Compressors.lookup(name)
      threads = Array.new(4) do |i|
        Thread.new do
          20.times.all? do |n|
            compressor.inflate(compressor.deflate("#{i}#{n}#{TEXT}")) == "#{i}#{n}#{TEXT}"
          end
        end
      end
      assert threads.all?(&:value)
    end
  end

  test "a compressor is made by its class, or by its name, and both are alike" do
    made = Larder::Compressors::Zstd.new(level: 19, max_bytes: 1000)
    found = Larder::Compressors.lookup("zstd", level: 19)
    assert_equal [Larder::Compressors::Zstd] * 2, [made.class, found.class]
    assert_equal found.deflate(TEXT[0, 900]), made.deflate(TEXT[0, 900])
    assert_raises(Larder::UnserializableError) { made.deflate(TEXT) }
    assert_kind_of Larder::Compressor, made
    assert_raises(ArgumentError) { Larder::Compressors::Zstd.new(levle: 3) }
    assert_not_respond_to Larder::Compressors, :[]
  end

  class BriefGzip < Larder::Compressors::Gzip
    def initialize = super(level: 1, max_bytes: 500)
  end

  test "an application's subclass of one is read by all others" do
    frame = BriefGzip.new.deflate("a" * 500)
    assert_equal "a" * 500, Larder::Compressors.lookup(:zstd).inflate(frame)
    assert_raises(Larder::UnserializableError) { BriefGzip.new.deflate("a" * 501) }
  end

  test "any store of Rails compresses with one" do
    Dir.mktmpdir do |dir|
      cache = ActiveSupport::Cache::FileStore.new(dir, serializer: Marshal,
                                                       compressor: Larder::Compressors::Zstd.new(level: 3))
      cache.write("key", TEXT)
      assert_equal TEXT, cache.read("key")
      assert_operator Dir.glob("#{dir}/**/*").sum { |path| File.file?(path) ? File.size(path) : 0 }, :<, 2000
    end
  end

  test "Zstandard frames of every level and shape come back, and nothing that stands behind one" do
    random = Random.new(5)
    mixed = Array.new(400) { |i| i.even? ? random.bytes(900) : "the same words again " * 60 }.join
    ["a" * 700_000, random.bytes(300_000), mixed, "x" * 300].product([-5, 1, 3, 9, 19, 22]) do |bytes, level|
      zstd = Larder::Compressors.lookup(:zstd, level: level, checksum: false)
      frame = zstd.deflate(bytes)
      assert_equal bytes.b, zstd.inflate(frame)
      next if frame.bytesize < 300

      more = frame + Zstd.compress("more")
      assert_raises(ActiveSupport::Cache::DeserializationError) { zstd.inflate(more) }
      assert_raises(ActiveSupport::Cache::DeserializationError) { zstd.inflate(frame.byteslice(0..-2)) }
    end
  end

  test "levels make it smaller" do
    { gzip: { level: 1..9 }, brotli: { quality: 0..11 }, zstd: { level: -5..19 },
lz4: { level: 0..12 } }.each do |name, levels|
      option, range = levels.first
      text = (1..3000).map { |i| (i * 7919).to_s(36) * 3 }.join(",")
      fast, small = range.minmax.map { |level| Larder::Compressors.lookup(name, option => level) }
      assert_operator small.deflate(text).bytesize, :<, fast.deflate(text).bytesize, name
      assert_equal text, fast.inflate(small.deflate(text)).force_encoding("UTF-8")
      assert_raises(ArgumentError) { Larder::Compressors.lookup(name, option => range.max + 200) }
    end
  end

  test "what is wrong is said" do
    assert_message(/unknown compressor :zst; did you mean :zstd\?; known: :gzip, :brotli/) do
      Larder::Compressors.lookup(:zst)
    end
    assert_message(/compressor :zstd has no option :lvl; it takes :level, :dictionary, :max_bytes/) do
      Larder::Compressors.lookup(:zstd, lvl: 1)
    end
    assert_message(/compressor :snappy has no option :level; it takes :max_bytes, :checksum/) do
      Larder::Compressors.lookup(:snappy, level: 1)
    end
    assert_message(/level: of compressor :gzip is "9"; it takes an Integer from 1 to 9/) do
      Larder::Compressors.lookup(:gzip, level: "9")
    end
    assert_message(/max_bytes: of Larder::Compressors::Gzip is 0/) { Larder::Compressors.lookup(:gzip, max_bytes: 0) }
  end

  test "a missing gem is named, with the line that the Gemfile lacks" do
    output = without_gem("brotli") { "Larder::Compressors.lookup(:brotli)" }
    assert_match(
      /compressor :brotli needs the gem brotli: add `gem "brotli"` to the Gemfile .*\(Larder::MissingGemError\)/, output
    )
  end

  test "a missing gem is a miss for what was written with it" do
    frame = Larder::Compressors.lookup(:brotli).deflate(TEXT).unpack1("H*")
    output = without_gem("brotli") { %(Larder::Compressors.lookup(:gzip).inflate(["#{frame}"].pack("H*"))) }
    assert_match(/needs the gem brotli.*\(ActiveSupport::Cache::DeserializationError\)/, output)
  end

  private

  # The frame with another size in it, and without a checksum, which a forger could make anyway.
  def lie_about_size(frame, size)
    id, _, body = Larder::Codecs::Frame.open_compressed(frame)
    Larder::Codecs::Frame.compressed(id, size, body, checksum: false)
  end

  def growth_of_memory
    GC.start
    before = resident
    yield
    resident - before
  end

  def resident
    File.read("/proc/self/status")[/VmHWM:\s+(\d+)/, 1].to_i << 10
  end
end
