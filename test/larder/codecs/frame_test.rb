# frozen_string_literal: true

# Frames of values and of compressed bytes: their bytes are pinned, for what is written today is read by later versions.

require "test_helper"
require "larder/codecs"
require "larder/codecs/signature"

class LarderCodecsFrameTest < ActiveSupport::TestCase
  Frame = Larder::Codecs::Frame
  SECRET = "sixteen bytes or more"

  test "ids never change" do
    assert_equal({ marshal: 1, json: 2, active_support_json: 3, message_pack: 4, xml: 5, protobuf: 6, native: 7 },
                 Larder::Serializers::TABLE)
    assert_equal 8, Larder::Serializers::TYPED
    assert_equal 0x3F, Larder::Coder::ENTRY
    assert_equal({ gzip: 0xA1, brotli: 0xA2, zstd: 0xA3, snappy: 0xA4, lz4: 0xA5, lz4_flex: 0xA6 },
                 Larder::Compressors::TABLE)
  end

  test "a value is behind a mark, its serializer's id and a checksum" do
    assert_equal "c142c1dd90917b7d", Frame.value(2, "{}").unpack1("H*")
    assert_equal "c1027b7d", Frame.value(2, "{}", checksum: false).unpack1("H*")
    assert_equal [2, "{}".b], Frame.open_value(Frame.value(2, "{}"))
    assert_equal [2, "{}".b], Frame.open_value(Frame.value(2, "{}", checksum: false), checksum: false)
  end

  test "a signed value is behind sixteen bytes of HMAC-SHA-256 over its id and itself" do
    signature = Larder::Codecs::Signature.new(SECRET)
    frame = Frame.value(1, "payload", signature: signature)
    assert_equal "c181", frame[0, 2].unpack1("H*")
    assert_equal OpenSSL::HMAC.digest("SHA256", SECRET, "\x01payload")[0, 16], frame[2, 16]
    assert_equal [1, "payload".b], Frame.open_value(frame, signature: signature)
  end

  test "compressed bytes are behind the compressor's id, their size before and a checksum" do
    assert_equal "a3ac02", Frame.compressed(0xA3, 300, "body")[0, 3].unpack1("H*")
    assert_equal 3 + 4 + 4, Frame.compressed(0xA3, 300, "body").bytesize
    assert_equal "b3ac02626f6479", Frame.compressed(0xA3, 300, "body", checksum: false).unpack1("H*")
    assert_equal [0xA3, 300, "body".b], Frame.open_compressed(Frame.compressed(0xA3, 300, "body"))
  end

  test "no frame is longer than eight bytes below two megabytes" do
    assert_equal 6, Frame.value(4, "").bytesize
    assert_equal 8, Frame.compressed(0xA1, (1 << 21) - 1, "").bytesize
    assert_equal 2, Frame.value(4, "", checksum: false).bytesize
    assert_equal 4, Frame.compressed(0xA1, (1 << 21) - 1, "", checksum: false).bytesize
  end

  test "what others write does not begin as a frame does" do
    others = [Marshal.dump(1), "\x00\x11\x01", "\xCC\x80".b, "\x00\x04\x08", "{}", "<r/>", Zlib.gzip("x"), ""]
    assert_empty(others.select { |bytes| Frame.value?(bytes.b) })
    compressed = (0..9).map { |level| Zlib::Deflate.deflate("x" * 100, level) } + [Zlib.gzip("x"), ""]
    assert_empty(compressed.select { |bytes| Frame.compressed?(bytes) })
  end

  test "sizes of any length are read again, and no more than 63 bits" do
    [0, 1, 127, 128, 300, (1 << 21) - 1, 1 << 40, (1 << 63) - 1].each do |number|
      assert_equal [number, Frame.leb128(number).bytesize], Frame.size_at(Frame.leb128(number), 0)
    end
    assert_raises(Larder::UnreadableError) { Frame.size_at("\xFF".b * 9, 0) }
    assert_raises(Larder::UnreadableError) { Frame.size_at("\xFF".b, 0) }
  end

  test "any flipped bit and any missing byte is noticed" do
    frames = { value: Frame.value(2, "some payload"), compressed: Frame.compressed(0xA4, 3000, "some body") }
    frames.each do |kind, frame|
      (frame.bytesize * 8).times do |bit|
        damaged = frame.dup
        damaged.setbyte(bit / 8, damaged.getbyte(bit / 8) ^ (1 << (bit % 8)))
        assert_unreadable(kind, damaged)
      end
      (0...frame.bytesize).each { |bytes| assert_unreadable(kind, frame.byteslice(0, bytes)) }
    end
  end

  test "a signature of another secret, or of another id, or none, does not hold" do
    signature = Larder::Codecs::Signature.new(SECRET)
    frame = Frame.value(1, "payload", signature: signature)
    other = Larder::Codecs::Signature.new("another secret of some bytes")
    assert_unreadable_with("wrong signature", frame, signature: other)
    assert_unreadable_with("wrong signature", frame.dup.tap { |bytes| bytes.setbyte(1, 0x82) }, signature: signature)
    assert_unreadable_with("unsigned", Frame.value(1, "payload"), signature: signature)
    assert_unreadable_with("signed, and there is no sign_with", frame)
    assert_unreadable_with("truncated", frame.byteslice(0, 17), signature: signature)
    assert_equal [1, "payload".b],
                 Frame.open_value(frame, signature: Larder::Codecs::Signature.new(["a new secret, longer", SECRET]))
  end

  private

  # Not a frame at all, or one that cannot be opened.
  def assert_unreadable(kind, bytes)
    return unless Frame.public_send(:"#{kind}?", bytes)

    assert_raises(Larder::UnreadableError, bytes.unpack1("H*")) { Frame.public_send(:"open_#{kind}", bytes) }
  end

  def assert_unreadable_with(reason, bytes, **options)
    error = assert_raises(Larder::UnreadableError) { Frame.open_value(bytes, **options) }
    assert_includes error.message, reason
  end
end
