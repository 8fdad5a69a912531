# frozen_string_literal: true

require "test_helper"
require "action_controller"
require "active_support/all"
require "bigdecimal"
require "uri"
require "larder/sessions/repository"

module Larder
  module Sessions
    class FormatTest < ActiveSupport::TestCase
      PLAIN = { "user_id" => 7, "big" => 2**80, "ratio" => 0.1, "name" => "Zoë", "none" => nil, "yes" => true,
                "cart" => [{ "id" => 1, "tags" => ["a", []] }] }.freeze

      test "each brings back what JSON has" do
        Format::NAMES.each do |name|
          format = Format.fetch(name)
          assert_same PLAIN, format.convert(PLAIN)
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
        [nil, JSON, 5].each do |name|
          error = assert_raises(InvalidArgument, name.inspect) { Format.fetch(name) }
          assert_equal "serializer: #{name.inspect} is none of :json, :hybrid, :marshal", error.message
        end
      end

      test "without a name it is JSON, and watched where cookies keep objects" do
        { nil => Format::Watched, :marshal => Format::Watched, :message_pack => Format::Watched, :json => Format::Json,
          :hybrid => Format::Json, JSON => Format::Json, Class.new => Format::Json }.each do |cookies, format|
          config = Struct.new(:action_dispatch).new(Struct.new(:cookies_serializer).new(cookies))
          rails = Struct.new(:application).new(Struct.new(:config).new(config))
          stub_const(Object, :Rails, rails, exists: defined?(::Rails) == "constant") do
            assert_same format, Format.default, cookies.inspect
          end
        end
      end

      # What a session is given, and what the next request reads.
      CONVERTED = {
        :paid                                       => "paid",
        Time.at(0.25r).utc                          => "1970-01-01T00:00:00.250Z",
        Time.at(0).utc.in_time_zone("Asia/Tokyo")   => "1970-01-01T09:00:00.000+09:00",
        Date.new(2024, 2, 29)                       => "2024-02-29",
        DateTime.new(2024, 3, 1)                    => "2024-03-01T00:00:00.000+00:00",
        BigDecimal("0.10")                          => "0.1",
        90.minutes                                  => 5400,
        ActiveSupport::SafeBuffer.new("<b>")        => "<b>",
        { id: 1, 7 => { nil => :x } }               => { "id" => 1, "7" => { "" => "x" } },
        Set[1, :two]                                => [1, "two"],
        Struct.new(:id, :at).new(1, Date.new(2024)) => { "id" => 1, "at" => "2024-01-01" },
        (1..3)                                      => "1..3",
        URI("https://a.example/b")                  => "https://a.example/b",
        ActiveSupport::HashWithIndifferentAccess.new(a: [{ b: 1 }]) => { "a" => [{ "b" => 1 }] },
        ActionController::Parameters.new(a: { b: "1" })             => { "a" => { "b" => "1" } }
      }.freeze

      CONVERTED.each do |given, read|
        test "JSON makes #{read.inspect} of a #{given.class}, as Rails' cookies do" do
          assert_converted read, given
          assert_equal ActiveSupport::JSON.decode(ActiveSupport::JSON.encode(given)), read
        end
      end

      test "bytes are UTF-8 where they may be, and other texts become it" do
        { "Müller".b => "Müller", "Müller".encode("ISO-8859-1") => "Müller", "abc".encode("UTF-16LE") => "abc",
          (+"M\xC3\xBC").force_encoding("US-ASCII") => "Mü" }.each { |given, read| assert_converted read, given }
        assert_equal({ "é" => 1 }, Format::Json.convert("é".b => 1))
      end

      test "what is converted is a copy, and what is not is the same object" do
        given = { "plain" => [{ "a" => "b" }], "cart" => { id: [:a] } }
        read = Format::Json.convert(given)
        assert_same given["plain"], read["plain"]
        assert_equal({ id: [:a] }, given["cart"])
        assert_same PLAIN, Format::Json.convert(PLAIN)
      end

      # The rest of the values below.
      LEFT = { "f" => nil, "s" => nil, "a" => { "b" => [1, nil] }, "p" => nil, "user" => nil, "h" => { "a" => 2 },
               "l" => [nil, 1], "auth" => { "uid" => "7", "extra" => {} } }.freeze

      {
        { "f" => Float::NAN } => 'session["f"] is NaN, which JSON does not have',
        { "l" => [BigDecimal("Infinity"), 1] } => 'session["l"][0] is Infinity, which JSON does not have',
        { "auth" => { uid: "7", extra: { token: Thread.current } } } =>
          'session["auth"][:extra][:token] is a Thread, which has no form in JSON',
        { "s" => "\xff" } => 'session["s"] is a String of UTF-8, which is not valid UTF-8',
        { "s" => "\xff".b } => "session[\"s\"] is a String of #{Encoding::BINARY}, which is not valid UTF-8",
        { "a" => { "b" => [1, $stdout] } } => 'session["a"]["b"][1] is a IO, which has no form in JSON',
        { "p" => -> {} } => 'session["p"] is a Proc, which has no form in JSON',
        { "user" => Object.new } => 'session["user"] is a Object, which has no form in JSON',
        { "h" => { $stdout => 1, "a" => 2 } } => 'session["h"][a IO] is stored under a IO, which is not a name'
      }.each do |session, words|
        test "JSON leaves out what it has no form for, and says so: #{words}" do
          values, errors = converted(Format::Json, { "user_id" => 7, **session, "cart" => [1] })
          assert_equal [7, [1]], values.values_at("user_id", "cart")
          assert_equal [LEFT[session.first.first]], values.values_at(session.first.first)
          assert errors.first.message.start_with?("#{words}, and was left out: "), errors.first.message
          assert_match(/of a record its id.*choose serializer: :marshal/, errors.first.message)
          assert_equal 1, errors.size
          assert_equal values, Format::Json.load(Format::Json.dump(values))
        end
      end

      test "as deep as JSON reads, and no deeper" do
        [JsonRoundTrip::DEEPEST, JsonRoundTrip::DEEPEST + 1].zip([true, false]) do |levels, fits|
          session = { "deep" => levels.times.reduce(1) { |inner, _| [inner] } }
          if fits
            assert_same session, Format::Json.convert(session)
            assert_equal session, Format::Json.load(Format::Json.dump(session))
          else
            values, errors = converted(Format::Json, { **session, "user_id" => 7 })
            assert_equal({ "user_id" => 7 }, values)
            assert_match(/\Asession\["deep"\] is nested more than 99 levels deep/, errors.first.message)
          end
        end
      end

      test "an object without any methods is left out" do
        [{ "it" => { "a" => BasicObject.new } }, { "it" => [BasicObject.new] }].zip([{}, [nil]]) do |session, left|
          values, errors = converted(Format::Json, session)
          assert_equal({ "it" => left }, values)
          assert_match(/is a BasicObject, which has no form in JSON/, errors.first.message)
        end
      end

      test "a value that contains itself twice is left out at once" do
        values, errors = converted(Format::Json, { "round" => [].tap { |list| list.push(list, list) }, "a" => :b })
        assert_equal [{ "a" => "b" }, 1], [values, errors.size]
      end

      test "a key that JSON would not bring back is left out by name" do
        ["\xff", "\xff".b].each do |key|
          values, errors = converted(Format::Json, { key => 1, "a" => 2 })
          assert_equal({ "a" => 2 }, values)
          assert_match(/\Asession\["\\x[^"]+"\] is a String of/, errors.first.message)
        end
      end

      test "Marshal leaves out the key of what it cannot dump, whatever the error, and names it" do
        raises = Class.new { define_method(:marshal_dump) { raise "not me" } }.new
        { $stdout => /a IO that Marshal/, -> {} => /a Proc that/, raises => /\(not me\)/ }.each do |value, words|
          given = { "fine" => 1, "it" => [value] }
          assert_not Format::Marshalled.unchanged?(given, "")
          values, errors = converted(Format::Marshalled, given)
          assert_equal({ "fine" => 1 }, values)
          assert_match(/\Asession\["it"\] is a Array that Marshal refuses/, errors.first.message)
          assert_match words, converted(Format::Marshalled, { "it" => value }).last.first.message
        end
      end

      test "Marshal's values that JSON has no form for are the same objects" do
        given = { "f" => Float::NAN, "s" => "\xff", "user" => Object.new }
        assert_same given, Format::Marshalled.convert(given)
        assert Format::Marshalled.unchanged?(given, Format::Marshalled.dump(given))
      end

      test "hybrid reads what Marshal wrote, and writes JSON" do
        old = Marshal.dump("user_id" => 7, "at" => :once)
        assert_equal({ "user_id" => 7, "at" => "once" }, Format::Hybrid.load(old))
        assert_equal '{"user_id":7}', Format::Hybrid.dump("user_id" => 7)
      end

      test "Marshal reads the JSON of hybrid, as in a deploy to it" do
        session = Format::Marshalled.load(Format::Hybrid.dump(PLAIN))
        assert_equal PLAIN, session
        assert_equal PLAIN, Format::Hybrid.load(Format::Marshalled.dump(session))
      end

      test "hybrid leaves out what Marshal wrote and JSON has no form for, and names it" do
        old = Marshal.dump("user_id" => 7, "user" => Object.new)
        left_out = []
        assert_equal({ "user_id" => 7 }, Format::Hybrid.load(old) { |error| left_out << error.message })
        assert_match(/\Asession\["user"\] is a Object/, left_out.join)
      end

      test "bytes of something else are unreadable, and JSON never runs Marshal" do
        ["", "{", "[1]", "\x04\x08{\x00", "\xff", "nul"].each do |bytes|
          assert_raises(UnreadableError, bytes.inspect) { Format::Json.load(bytes) }
        end
        ["", "\x04\x08", "\x04\x08[\x00", "[]", "\x04\x08o:\x0bNoSuch\x00"].each do |bytes|
          assert_raises(UnreadableError, bytes.inspect) { Format::Marshalled.load(bytes) }
        end
        assert_match(/serializer: :hybrid reads it/,
                     assert_raises(UnreadableError) { Format::Json.load(Marshal.dump({})) }.message)
      end

      test "what is said of unreadable bytes tells nothing of what is in them" do
        error = assert_raises(UnreadableError) { Format::Json.load('{"_csrf_token":secret}') }
        assert_not_includes error.full_message, "secret"
      end

      test "an object is left out whose class has a name of its own, with arguments" do
        type = Class.new { def self.name(_wanted) = raise(NotImplementedError) }
        values, errors = converted(Format::Json, { "fine" => 1, "it" => type.new })
        assert_equal({ "fine" => 1 }, values)
        assert_match(/\Asession\["it"\] is a /, errors.first.message)
        assert_equal ["it", ""], errors.first.about
      end

      test "a class that JSON is told of stays data" do
        assert_equal({ "json_class" => "String" }, Format::Json.load('{"json_class":"String"}'))
      end

      private

      def converted(format, session)
        errors = []
        [format.convert(session) { |error| errors << error }, errors]
      end

      def assert_converted(read, given)
        session = { "plain" => 1, "it" => given, "in" => [[given]] }
        converted = Format::Json.convert(session)
        assert_equal({ "plain" => 1, "it" => read, "in" => [[read]] }, converted)
        assert_equal converted, Format::Json.load(Format::Json.dump(converted))
        assert_same converted, Format::Json.convert(converted)
      end
    end
  end
end
