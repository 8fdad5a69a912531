# frozen_string_literal: true

require "test_helper"
require "socket"
require_relative "../../../proof/foreign/browser"

module Foreign
  class BrowserTest < ActiveSupport::TestCase
    PAGE = "<meta name=\"csrf-token\" content=\"t1\">"

    test "it keeps cookies, drops those that end, and sends the token of the last page" do
      serve("Set-Cookie: a=1; path=/\r\nSet-Cookie: b=2\r\n", "Set-Cookie: b=; max-age=0\r\n", "") do |browser, asked|
        browser.get("/one")
        assert_equal ["a", "b"], browser.cookies
        browser.post("/two", "x" => "y")
        browser.get("/three")
        assert_match(/^cookie: a=1; b=2\r$/i, asked[1])
        assert_match(/authenticity_token=t1&x=y\z/, asked[1])
        assert_match(/^cookie: a=1\r$/i, asked[2])
        assert_match(/^host: foreign\.test\r$/i, asked[2])
      end
    end

    test "a page that is cut off is asked for again and counted; a form is not sent again" do
      serve(nil, "", nil) do |browser, asked|
        assert_equal 200, browser.get("/one").status
        assert_equal 1, browser.cut
        assert_raises(EOFError) { browser.post("/two", {}) }
        assert_equal 3, asked.size
      end
    end

    private

    # A server that answers with these headers, one request after the other; nil: it closes the connection.
    def serve(*answers)
      asked = []
      server = TCPServer.new("127.0.0.1", 0)
      thread = Thread.new { answers.each { |headers| answer(server.accept, headers, asked) } }
      yield Browser.new(-> { [server.addr[1]] }), asked
    ensure
      thread&.kill
      server&.close
    end

    def answer(socket, headers, asked)
      text = +""
      text << socket.gets until text.end_with?("\r\n\r\n")
      length = text[/^content-length: (\d+)/i, 1].to_i
      text << socket.read(length) if length.positive?
      asked << text
      return if headers.nil?

      socket.write("HTTP/1.1 200 OK\r\nContent-Length: #{PAGE.size}\r\nConnection: close\r\n#{headers}\r\n#{PAGE}")
    ensure
      socket.close
    end
  end
end
