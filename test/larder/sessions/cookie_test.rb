# frozen_string_literal: true

require "test_helper"
require "rack/utils"
require "larder/sessions/cookie"

module Larder
  module Sessions
    class CookieTest < ActiveSupport::TestCase
      PIECES = ["_s=abc", "_s=", "_s", "__s=no", "a_s=no", "_s =no", "x=_s=no", "_s=d%20e", "_s=a+b", "_s=f g",
                "_s=-_9", " _s=no", "_s=\xff", "\xff=1", "tail=\u00e9", "", "=", "_s=\"q\"", "a=1", "_S=no"].freeze

      setup { @cookie = Cookie.new("_s") }

      test "a cookie is found wherever it stands" do
        assert_equal "abc", @cookie.value_in("_s=abc")
        assert_equal "abc", @cookie.value_in("a=1; _s=abc; b=2")
        assert_equal "abc", @cookie.value_in("a=1;_s=abc")
      end

      test "one whose name is like it is not it" do
        assert_nil @cookie.value_in("a_s=abc; _s2=abc; x=_s=abc")
        assert_nil Cookie.new("a.c").value_in("abc=1")
      end

      test "what would have to be decoded is left to Rack" do
        assert_nil @cookie.value_in("_s=a%20b")
        assert_nil @cookie.value_in("_s=a+b")
        assert_nil @cookie.value_in("_s=\xff"), "no valid UTF-8"
        assert_equal "abc", @cookie.value_in("_s=abc; b=\xff".b), "bytes, as servers pass them"
      end

      test "it is the one that Rack would find, in any header" do
        random = Random.new(1)
        found = 5000.times.count do
          pieces = Array.new(random.rand(1..4)) { PIECES.sample(random: random) }
          header = pieces.join(["; ", ";", ";  "].sample(random: random))
          header = header.b if random.rand(2).zero?
          ours = @cookie.value_in(header)
          assert_equal Rack::Utils.parse_cookies_header(header.b)["_s"], ours, header.inspect if ours
          ours
        end
        assert_operator found, :>, 500
      end

      test "one whose name is beyond ASCII is left to Rack" do
        assert_nil Cookie.new("é").value_in("é=1")
        assert_nil Cookie.new("é").value_in("é=1".b)
      end

      test "it is UTF-8, as Rack's are" do
        assert_equal Encoding::UTF_8, @cookie.value_in("_s=abc".b).encoding
      end
    end
  end
end
