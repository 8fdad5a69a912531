# frozen_string_literal: true

require "test_helper"
require "fiddle"
require "rbconfig"

module Larder
  # The two ways in which C looks at a text, compiled for themselves: all at once, and as on other processors.
  class UTF8Test < ActiveSupport::TestCase
    include TemporaryDirectory

    SOURCE = File.expand_path("../../../ext/larder/value/utf8.c", __dir__)
    BYTES = [0x00, 0x41, *0x7E..0x81, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED,
             0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF7, 0xF8, 0xFF].freeze
    FIRST = [0x41, *0x7E..0xFF].freeze
    # Bytes before a character: it is in 32 or 64 bytes, or goes across their end.
    BEFORE = [2, 30, 31, 62, 63].freeze

    { "as it is" => [], "one character after the other" => ["-DLARDER_ONE_BY_ONE"],
      "the same without vectors" => ["-DLARDER_ONE_BY_ONE", "-U__SSE2__"] }.each do |name, flags|
      test "a text is well-formed if Ruby has it so, #{name}: any two bytes, and what follows" do
        compile(flags)
        tails = BYTES.product(BYTES).map { |pair| pair.pack("C*") }
        texts = FIRST.flat_map { |first| tails.map { |tail| first.chr.b + tail } }
        texts += texts.last(64 * tails.size).map { |text| text + "\x80".b } # of three and four bytes
        BEFORE.each { |bytes| check(texts, before: "é".b + ("a" * (bytes - 2)), after: "") }
        check(texts, before: "é".b + ("a" * 60), after: "z" * 70)
      end

      test "a text is well-formed if Ruby has it so, #{name}: characters of all lengths, and those with a wrong bit" do
        compile(flags)
        random = Random.new(1)
        good = Array.new(20_000) do
          Array.new(random.rand(80)) { random.rand([0x80, 0x800, 0xD800, 0x110000].sample(random: random)) }
               .reject { |code| (0xD800..0xDFFF).cover?(code) }.pack("U*").b
        end
        bad = good.map do |text|
          next text if text.empty?

          at = random.rand(text.bytesize)
          text.dup.tap { |one| one.setbyte(at, one.getbyte(at) ^ (1 << random.rand(8))) }
        end
        check(good + bad)
        assert_operator(bad.count { |text| !valid?(text) }, :>, 5_000)
      end
    end

    private

    def compile(flags)
      library = File.join(directory, "utf8.so")
      system(*RbConfig::CONFIG["CC"].split, "-std=gnu11", "-O2", "-shared", "-fPIC", *flags,
             "-I#{File.expand_path("../..", SOURCE)}", SOURCE, "-o", library, exception: true)
      @function = Fiddle::Function.new(Fiddle.dlopen(library)["utf8_is_well_formed"],
                                       [Fiddle::TYPE_VOIDP, Fiddle::TYPE_SIZE_T], Fiddle::TYPE_CHAR)
    end

    def check(texts, before: "", after: "")
      wrong = texts.reject do |text|
        text = before.b + text + after
        (@function.call(text, text.bytesize) != 0) == valid?(text)
      end
      assert_empty wrong.first(3)
    end

    def valid?(text)
      text.dup.force_encoding("UTF-8").valid_encoding?
    end
  end
end
