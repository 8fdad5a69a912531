# frozen_string_literal: true

require "test_helper"
require_relative "../../../proof/foreign/page"

module Foreign
  class PageTest < ActiveSupport::TestCase
    test "pages that differ in tokens, ids of requests and times are equal" do
      first, second = [["aaa", "08:14 AM", "less than a minute"],
                       ["bbb", "08:15 AM", "1 minute"]].map do |token, time, age|
        page(<<~HTML)
          <meta name="csrf-token" content="#{token}" />
          <input type="hidden" name="authenticity_token" value="#{token}" autocomplete="off" />
          <script nonce="#{token}">1</script>
          <a title="11/29/2026 #{time}">#{age} ago</a>
          <time datetime="2026-11-29T08:#{time[3, 2]}:07Z">x</time>
        HTML
      end
      assert_nil first.difference(second)
    end

    test "the first line that differs is shown, from both pages" do
      assert_equal ["<p>2 issues</p>", "<p>3 issues</p>"],
                   page("<h1>A</h1>\n<p>2 issues</p>\n<p>x</p>")
                     .difference(page("<h1>A</h1>\n<p>3 issues</p>\n<p>y</p>"))
    end

    test "a page that ends earlier differs" do
      assert_equal ["b", ""], page("a\nb").difference(page("a"))
    end

    test "status, type and place of a redirect are compared, its server is not" do
      assert_equal ["status 200", "status 302"], page("").difference(Page.new(status: 302, type: "text/html"))
      assert_equal ["type text/html", "type text/css"], page("").difference(Page.new(status: 200, type: "text/css"))
      urls = ["http://one.test:1/login", "https://two.test/login"]
      there, here = urls.map { |url| Page.new(status: 302, location: url) }
      assert_nil there.difference(here)
      assert_equal "/login", there.location
      assert there.difference(Page.new(status: 302, location: "http://one.test:1/"))
    end

    test "an application names more that may differ" do
      first, second = ["a1b2c3", "d4e5f6"].map { |id| page("<a href=\"/s/#{id}\">x</a>") }
      assert first.difference(second)
      assert_nil first.difference(second, [[%r{/s/\w{6}}, "/s/ID"]])
    end

    test "the token of forms is found in the head, or in a form" do
      assert_equal "abc+/=", page("<meta name=\"csrf-token\" content=\"abc+/=\">").token
      assert_equal "xyz", page("<input type=\"hidden\" name=\"authenticity_token\" value=\"xyz\">").token
      assert_nil page("<p>").token
    end

    test "bytes that are not text are compared" do
      assert page("\xFF\xFE").difference(page("\xFFa"))
    end

    private

    def page(body)
      Page.new(status: 200, type: "text/html; charset=utf-8", body: body)
    end
  end
end
