# frozen_string_literal: true

require "support/recipes_pages"

# Signing in and out, and what signed-in readers may do.
class RecipesSigningInTest < RecipesPages
  test "signing in gives another session, and leaves nothing of the one before" do
    get "/welcome/index"
    before = id
    sign_in
    assert_redirected_to "/account"
    assert_not_equal before, id
    follow_redirect!
    assert_includes page.at_css("h1").text, "demo"

    cookies["_recipes"] = before
    get "/account"
    assert_redirected_to %r{/session/new}
  end

  test "signing out ends the session for whoever else has its id" do
    sign_in
    signed_in = id
    get "/account"
    press "Sign out"
    assert_redirected_to "/"
    follow_redirect!
    assert_includes page.at_css("[role=status]").text, "signed out"
    assert_not_equal signed_in, id

    cookies["_recipes"] = signed_in
    get "/account"
    assert_redirected_to %r{/session/new}
  end

  test "a reader sees all own sessions, and ends others but nobody else's" do
    Larder::Sessions.logout_all
    other, stranger = Array.new(2) { open_session }
    sign_in
    sign_in(browser: other)
    sign_in("guest", browser: stranger)
    follow_redirect!
    assert_equal 2, page.css(".places li").size
    assert_equal 1, page.css(".places form").size, "this one is ended by signing out"

    stranger.get "/account"
    token = page(stranger).at_css("[name=authenticity_token]")["value"]
    handle = page.at_css(".places form")["action"][%r{[^/]+\z}]
    stranger.delete "/sign_ins/#{handle}", params: { authenticity_token: token }
    other.get "/account"
    assert_equal 200, other.response.status

    get "/account"
    button = page.at_css(".places form")
    delete button["action"], params: { authenticity_token: button.at_css("[name=authenticity_token]")["value"] }
    other.get "/account"
    assert_equal 302, other.response.status
    stranger.get "/account"
    assert_equal 200, stranger.response.status
  end

  test "a wrong password, a name that nobody has and one that has no password are refused alike" do
    [["demo", "wrong"], ["nobody", "wrong"], ["anna", ""], ["anna", "0" * 64], ["", ""]].each do |name, password|
      sign_in(name, password)
      assert_response 422
      assert_includes page.at_css("[role=alert]").text, "not a name and its password"
      assert_includes page.at_css("nav").text, "Sign in"
    end
  end

  test "after ten wrong passwords the right one is refused, too, until minutes have passed" do
    10.times { sign_in("guest", "wrong") }
    sign_in("guest")
    assert_response 429
    sign_in("demo")
    assert_redirected_to "/account"
    travel(4.minutes) do
      sign_in("guest")
      assert_redirected_to "/account"
    end
  end

  test "a form without its token, or of a session that has ended, changes nothing" do
    post "/session", params: { name: "demo", password: Recipes::USERS["demo"] }
    assert_response 422
    assert_includes page.at_css("h1").text, "too old"

    sign_in
    get "/rezept/show/713"
    form = page.at_css(".note [name=authenticity_token]")["value"]
    get "/account"
    press "Sign out"
    assert_no_difference(-> { Note.count }) do
      post "/rezept/show/713/notes", params: { body: "Too late", authenticity_token: form }
    end
    assert_response 422
  end

  test "who was sent to sign in comes back to where they were, and nowhere else" do
    get "/favourites"
    follow_redirect!
    press "Sign in", { name: "demo", password: Recipes::USERS["demo"] }
    assert_redirected_to "/favourites"

    reset!
    get "/session/new", params: { back: "https://example.org/" }
    press "Sign in", { name: "demo", password: Recipes::USERS["demo"] }
    assert_redirected_to "/account"
  end

  test "favourites are marked and unmarked, each under a key of its own in the session" do
    sign_in
    { 713 => "/rezept/myknzlpzl", 5 => "/rezept/show/5" }.each do |recipe, path|
      get path
      press "☆"
      assert_redirected_to path
      assert_equal true, session["favourite/#{recipe}"]
    end
    get "/favourites"
    assert_equal [5, 713].map { |recipe| "/rezept/#{Recipe.find(recipe).name}" }.sort,
                 page.css("main .list a").map { |link| link["href"] }.sort

    get "/rezept/myknzlpzl"
    press "★"
    get "/favourites"
    assert_equal 1, page.css("main .list a").size
  end

  test "a favourite is the reader's own, on a page that all share" do
    sign_in
    get "/rezept/myknzlpzl"
    press "☆"
    get "/rezept/myknzlpzl"
    assert_includes page.at_css(".marks").text, "★"
    other = open_session
    other.get "/rezept/myknzlpzl"
    assert_includes other.response.body, "its body was in the cache"
    assert_not_includes other.response.body, "★"
    assert_not_includes page(other).at_css("nav").text, "demo"
  end

  test "no more favourites are kept than a cookie would hold" do
    sign_in
    (1..101).each do |recipe|
      get "/rezept/show/#{recipe}"
      press "☆"
    end
    get "/favourites"
    assert_equal 100, page.css("main .list a").size
    assert_includes page.at_css("[role=alert]").text, "100 favourites"
  end

  test "a note is on the page at once, though its body was cached, and is text" do
    get "/rezept/myknzlpzl"
    sign_in
    get "/rezept/myknzlpzl"
    assert_includes response.body, "its body was in the cache"
    press "Leave the note", { body: "Less <b>onion</b>" }
    assert_redirected_to "/rezept/myknzlpzl"
    follow_redirect!
    assert_includes response.body, "Less &lt;b&gt;onion&lt;/b&gt;"
    assert_includes page.css(".notes small").last.text, "Demo"
  end

  test "a note that is empty or too long is refused, and says why" do
    sign_in
    ["  ", "x" * 501].each do |body|
      get "/rezept/show/713"
      assert_no_difference(-> { Note.count }) { press "Leave the note", { body: body } }
      follow_redirect!
      assert_match(/Body is (?:empty|too long)/, page.at_css("[role=alert]").text)
    end
  end

  test "only who is signed in may mark or note" do
    get "/session/new"
    token = page.at_css("[name=authenticity_token]")["value"]
    %w[/rezept/show/713/favourite /rezept/show/713/notes].each do |path|
      assert_no_difference(-> { Note.count }) { post path, params: { authenticity_token: token, body: "Hello" } }
      assert_includes [302, 422], response.status
    end
    assert_nil session["favourite/713"]
  end
end
