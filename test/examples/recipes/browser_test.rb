# frozen_string_literal: true

require "support/demo"
require_relative "../../../rakelib/house/browser"

# Readers in a real browser, at a real server with two workers.
class RecipesBrowserTest < ActiveSupport::TestCase
  include TemporaryDirectory
  include Demo

  setup { skip House::Browser.missing if House::Browser.missing }

  slow_test "a reader signs in, marks in two tabs at once, is signed out elsewhere, and sees a deploy" do
    during_demo("--release", "one", *own_port) do |address, _|
      @address = address
      House::Browser.open do |browser|
        @first = browser
        a_wrong_password_is_refused
        signing_in_gives_another_cookie
        two_tabs_at_once_keep_what_both_did
        House::Browser.open { |other| ended_from_elsewhere(other) }
        @cookies = browser.command("Network.getCookies", urls: [address])["cookies"]
      end
    end
    during_demo("--release", "two", *own_port) { |address, _| the_next_release_knows_the_reader(address) }
  end

  private

  def a_wrong_password_is_refused
    sign_in(@first, "wrong")
    assert_match(/not a name and its password/, text(@first))
  end

  def signing_in_gives_another_cookie
    before = id(@first)
    sign_in(@first)
    assert_match(/Signed in as demo.*Chrome on Linux this one/m, text(@first))
    assert_not_equal before, id(@first)
    assert_equal "", @first.evaluate("document.cookie"), "scripts do not see it"
  end

  # Both forms are sent before either answer is waited for, again and again.
  def two_tabs_at_once_keep_what_both_did
    tabs = [@first, @first.new_tab]
    10.times do |turn|
      tabs.each_with_index { |tab, i| tab.visit("#{@address}/rezept/show/#{(2 * turn) + i + 1}") }
      tabs.each { |tab| tab.evaluate("document.querySelector('.marks form').submit()") }
      tabs.each(&:wait_until_loaded)
    end
    @first.visit("#{@address}/favourites")
    assert_equal 20, @first.evaluate("document.querySelectorAll('main .list a').length")
  end

  def ended_from_elsewhere(other)
    sign_in(other)
    assert_equal 2, other.evaluate("document.querySelectorAll('.places li').length")
    press(other, "Sign out everywhere else")
    assert_match(/Signed out in 1 other place/, text(other))
    @first.visit("#{@address}/account")
    assert_match(/Please sign in first/, text(@first))
    sign_in(@first)
    press(@first, "End")
    assert_match(/That session has ended/, text(@first))
    other.visit("#{@address}/account")
    assert_match(/Please sign in first/, text(other))
  end

  def the_next_release_knows_the_reader(address)
    House::Browser.open do |browser|
      cookies = @cookies.map { |cookie| cookie.slice("name", "value", "path").merge("url" => address) }
      browser.command("Network.setCookies", cookies: cookies)
      browser.visit("#{address}/account")
      assert_match(/Signed in as demo.*Release two/m, text(browser))
    end
  end

  def sign_in(browser, password = "hungry-for-more")
    browser.visit("#{@address}/session/new")
    browser.evaluate("document.querySelector('[name=name]').value = 'demo'")
    browser.evaluate("document.querySelector('[name=password]').value = '#{password}'")
    press(browser, "Sign in")
  end

  def press(browser, button)
    script = <<~JAVASCRIPT
      [...document.querySelectorAll("main button, main [type=submit]")]
        .find(one => (one.value || one.textContent).trim() == #{button.to_json}).click()
    JAVASCRIPT
    browser.follow { browser.evaluate(script) }
  end

  def text(browser)
    browser.evaluate("document.body.innerText")
  end

  def id(browser)
    browser.command("Network.getCookies", urls: [@address])["cookies"].find { |cookie| cookie["name"] == "_recipes" }
           &.fetch("value")
  end
end
