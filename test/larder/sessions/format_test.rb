# frozen_string_literal: true

require "test_helper"
require "active_support/core_ext/hash/indifferent_access"
require "active_support/core_ext/numeric/time"
require "active_support/core_ext/string/output_safety"
require "larder/sessions/repository"

module Larder
  module Sessions
    class FormatTest < ActiveSupport::TestCase
      PLAIN = { "user_id" => 7, "big" => 2**80, "ratio" => 0.1, "name" => "Zoë", "none" => nil, "yes" => true,
                "cart" => [{ "id" => 1, "tags" => ["a", []] }] }.freeze

      test "each brings back what JSON has" do
        Format::NAMES.each do |name|
          format = Format.fetch(name)
          format.check(PLAIN)
          assert_equal PLAIN, format.load(format.dump(PLAIN)), name
        end
      end

      test "what was kept equals what is made of it again, also beyond ASCII" do
        Format::NAMES.each do |name|
          bytes = Format.fetch(name).dump(PLAIN)
          kept = Record.parse(Record.of(began: 1, used: 1, values: bytes).to_bytes).values
          assert_equal bytes, kept, name
          assert_equal PLAIN, Format.fetch(name).load(kept), name
        end
      end

      test "names may be Strings, and an unknown one is refused with those there are" do
        assert_equal Format::Json, Format.fetch("json")
        error = assert_raises(InvalidArgument) { Format.fetch(:yaml) }
        assert_equal "serializer: :yaml is none of :json, :hybrid, :marshal", error.message
        assert_raises(InvalidArgument) { Format.fetch(nil) }
      end

      {
        { "a" => { "b" => [1, :c] } } => 'session["a"]["b"][1] is a Symbol, which JSON does not have',
        { "at" => Time.at(0) } => 'session["at"] is a Time, which JSON does not have',
        { "in" => 1.hour } => 'session["in"] is a ActiveSupport::Duration, which JSON does not have',
        { "h" => { id: 1 } } => "session[\"h\"][:id] is kept under a Symbol, which JSON makes a String",
        { "f" => Float::NAN } => 'session["f"] is NaN, which JSON does not have',
        { "s" => "\xff" } => 'session["s"] is a String of UTF-8, which is no valid UTF-8',
        { "s" => "é".encode("ISO-8859-1") } => 'session["s"] is a String of ISO-8859-1, which is no valid UTF-8',
        { "s" => ActiveSupport::SafeBuffer.new("x") } =>
          'session["s"] is a ActiveSupport::SafeBuffer, which JSON brings back as a String',
        { "h" => ActiveSupport::HashWithIndifferentAccess.new(a: 1) } =>
          'session["h"] is a ActiveSupport::HashWithIndifferentAccess, which JSON brings back as a Hash'
      }.each do |session, words|
        test "JSON refuses what it would lose: #{words}" do
          error = assert_raises(LossyValueError) { Format::Json.check(session) }
          assert error.message.start_with?("#{words}. "), error.message
          assert_match(/choose serializer: :marshal/, error.message)
          Format::Marshalled.check(session)
          assert_kind_of String, Format::Marshalled.dump(session)
        end
      end

      test "as deep as JSON reads, and no deeper" do
        [JsonRoundTrip::DEEPEST, JsonRoundTrip::DEEPEST + 1].zip([true, false]) do |levels, fits|
          session = { "deep" => levels.times.reduce(1) { |inner, _| [inner] } }
          if fits
            Format::Json.check(session)
            assert_equal session, Format::Json.load(Format::Json.dump(session))
          else
            error = assert_raises(LossyValueError) { Format::Json.check(session) }
            assert_match(/\Asession\["deep"\] is nested more than 99 levels deep/, error.message)
          end
        end
      end

      test "a key that JSON would not bring back is refused by name" do
        ["\xff", "\xC3\xA9".b].each do |key|
          error = assert_raises(LossyValueError) { Format::Json.check(key => 1) }
          assert_match(/\Asession\["\\x[^"]+"\] is a String of/, error.message)
        end
      end

      test "Marshal names the key of what it cannot dump" do
        error = assert_raises(LossyValueError) { Format::Marshalled.dump("fine" => 1, "io" => $stdout) }
        assert_match(/\Asession\["io"\] cannot be kept: /, error.message)
      end

      test "hybrid reads what Marshal wrote, and writes JSON" do
        old = Marshal.dump("user_id" => 7, "at" => :once)
        assert_equal({ "user_id" => 7, "at" => :once }, Format::Hybrid.load(old))
        assert_equal '{"user_id":7}', Format::Hybrid.dump("user_id" => 7)
      end

      test "bytes of something else are unreadable, and JSON never runs Marshal" do
        ["", "{", "[1]", "\x04\x08{\x00", "\xff", "nul"].each do |bytes|
          assert_raises(UnreadableError, bytes.inspect) { Format::Json.load(bytes) }
        end
        ["", "\x04\x08", "\x04\x08[\x00", "{}", "\x04\x08o:\x0bNoSuch\x00"].each do |bytes|
          assert_raises(UnreadableError, bytes.inspect) { Format::Marshalled.load(bytes) }
        end
        assert_match(/serializer: :hybrid reads it/,
                     assert_raises(UnreadableError) { Format::Json.load(Marshal.dump({})) }.message)
      end

      test "what is said of unreadable bytes tells nothing of what is in them" do
        error = assert_raises(UnreadableError) { Format::Json.load('{"_csrf_token":secret}') }
        assert_not_includes error.full_message, "secret"
      end

      test "a class that JSON is told of stays data" do
        assert_equal({ "json_class" => "String" }, Format::Json.load('{"json_class":"String"}'))
      end
    end
  end
end
