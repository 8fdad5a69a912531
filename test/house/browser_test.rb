# frozen_string_literal: true

require "test_helper"
require_relative "../../rakelib/house/pictures"

module House
  # The browser that looks at reports, and the pictures that it takes.
  class BrowserTest < ActiveSupport::TestCase
    include TemporaryDirectory

    setup { skip Browser.missing if Browser.missing }

    test "it tells what a page asks for and what goes wrong in it" do
      page = write("<img src='absent.png'><script>console.log('said'); nonsense()</script>")
      Browser.open do |browser|
        browser.visit(page)
        assert_equal ["absent.png"], browser.requests.map { |url| File.basename(url) }
        assert_match(/said/, browser.complaints.join)
        assert_match(/Uncaught/, browser.complaints.join)
        assert_equal 2, browser.evaluate("1 + 1")
        assert_raises(Browser::Error) { browser.evaluate("nonsense") }
        assert_raises(Ferrum::StatusError) { browser.visit("#{page}.absent") }
      end
    end

    test "pictures show the page light, dark, on a telephone and printed" do
      page = write("<meta name='viewport' content='width=device-width'><figure>A chart</figure>")
      files = Pictures.new(page, File.join(directory, "pictures")).take
      assert_equal 13, files.size
      files.each { |file| assert_match(/\A(\x89PNG|%PDF)/n, File.binread(file)) }
      assert_equal [1920, 1500], File.binread(files.first)[16, 8].unpack("N2")
    end

    private

    def write(html)
      File.join(directory, "page.html").tap { |file| File.write(file, "<!DOCTYPE html><title>A page</title>#{html}") }
    end
  end
end
