# frozen_string_literal: true

require "support/recipes_pages"

# Every page answers, some from the cache, and lists have pages.
class RecipesPagesTest < RecipesPages
  { "/" => "Three thousand recipes", "/empty/index" => "An empty plate", "/welcome/index" => "Where things are kept",
    "/rezept/index" => "By letter", "/rezept/myknzlpzl" => "Ingredients", "/rezept/show/713" => "Ingredients",
    "/rezept/cat/Hauptspeise" => "main dishes", "/rezept/cat/Hauptspeise?page=5" => "page 5 of",
    "/rezept/cat/Geb%C3%A4ck" => "cakes and breads", "/rezept/cat/Vegetarisch" => "vegetarian",
    "/rezept/letter/G" => "page 1 of", "/rezept/letter/g?page=2" => "page 2 of",
    "/session/new" => "Password" }.each do |path, text|
    test "#{path} answers" do
      get path
      assert_response :success
      assert_includes response.body, text
    end
  end

  test "by default cache and sessions are Larder's, and everything written is in one directory" do
    get "/"
    assert_equal %w[LarderStore LarderStore], page.css("code").map(&:text)
    assert_match(%r{\A_recipes=\h{32}; path=/; httponly; samesite=lax\z}i, response.headers["set-cookie"])
    assert_empty %w[cache.larder sessions.larder recipes.sqlite3 secret log] - Dir.children(Recipes.storage)
    assert_not File.exist?(File.join(RecipesFiles::APPLICATION, "log"))
  end

  test "the style sheet is kept by browsers, and its address changes with it" do
    get "/"
    get page.at_css("link[rel=stylesheet]")["href"]
    assert_equal ["text/css; charset=utf-8", "public, max-age=31536000"],
                 [response.headers["content-type"], response.headers["cache-control"]]
    assert_equal File.read(File.join(RecipesFiles::APPLICATION, "public/recipes.css")), response.body
  end

  test "what is not in the book is said to be missing, and is not kept" do
    %w[/rezept/nonono /rezept/show/99999 /rezept/show/99999999999999999999 /rezept/cat/Steine /rezept/cat/%25
       /rezept/letter/X /rezept/letter/G?page=99 /nothing/at/all].each do |path|
      get path
      assert_response :not_found, path
      assert_includes response.body, "Not in this book"
      assert_not_includes response.body, "cache from now on"
    end
  end

  test "the empty page and the welcome give a visitor a session, the cached pages do not" do
    %w[/empty/index /welcome/index /rezept/index /rezept/myknzlpzl /rezept/show/713].each do |path|
      get path
      assert_equal path.match?(/empty|welcome/), id.present?, path
      reset!
    end
  end

  test "a visitor who comes again keeps the session, which is not written again" do
    get "/empty/index"
    first = id
    assert_no_changes(-> { session_bytes }) { 3.times { get "/empty/index" } }
    assert_equal first, id
    assert_nil response.headers["set-cookie"]
  end

  test "a body that is cached is neither rendered nor asked for again, and the foot of the page says so" do
    %w[/rezept/index /rezept/myknzlpzl].each do |path|
      first = made { get path }
      body = page.at_css("main").to_html
      assert_includes response.body, "in the cache from now on"
      second = made { get path }
      assert_equal body, page.at_css("main").to_html
      assert_match(/no query;\s+<span class="met hit">its body was in the cache/, response.body)
      assert_operator first.grep(/SELECT/).size, :>, 4
      assert_empty second.grep(/SELECT|rezept\/(?:index|by_name|_recipe|_entry)/)
    end
  end

  test "a page by its number is made each time, and like the one by its name" do
    get "/rezept/myknzlpzl"
    by_name = page.at_css("article").to_html
    2.times do
      assert_operator(made { get "/rezept/show/713" }.grep(/SELECT/).size, :>, 4)
      assert_includes response.body, "nothing of it is cached"
      assert_equal by_name, page.at_css("article").to_html
    end
  end

  test "the pages of a category hold each of its recipes once, twenty a page" do
    expected = Recipe.all.select { |recipe| recipe.category_names.include?("Suppe") }.map(&:name)
    pages = (1..expected.size.fdiv(20).ceil).map do |number|
      get "/rezept/cat/Suppe", params: { page: number }
      page.css("main .list a").map { |link| link["href"].delete_prefix("/rezept/") }
    end
    assert_equal expected.sort, pages.flatten.sort
    assert_equal [20], pages[0..-2].map(&:size).uniq
    assert_equal 2, made { get "/rezept/cat/Suppe?page=2" }.grep(/categories LIKE/).size
  end

  test "page numbers lead on, and the present one is marked" do
    get "/rezept/letter/G", params: { page: 5 }
    assert_equal "5", page.at_css("nav.pages [aria-current=page]").text
    assert_includes page.css("nav.pages a").map { |link| link["href"] }, "/rezept/letter/G?page=6"
    %w[0 -3 x].each do |number|
      get "/rezept/letter/G", params: { page: number }
      assert_equal "1", page.at_css("nav.pages [aria-current=page]").text
    end
    get "/rezept/letter/G?page[]=2"
    assert_response :success
  end

  test "no page loads anything from elsewhere, or runs a script" do
    %w[/ /rezept/index /rezept/myknzlpzl /session/new].each do |path|
      get path
      assert_empty page.css("script")
      sources = page.css("[src], link[href]").map { |element| element["src"] || element["href"] }
      assert_empty sources.reject { |source| source.start_with?("/recipes.css", "data:") }
      assert_includes response.headers["content-security-policy"], "default-src 'none'"
    end
  end

  test "every field has a label, every page a title, a heading and a language" do
    sign_in
    %w[/ /rezept/index /rezept/myknzlpzl /rezept/cat/Salat /account /favourites].each do |path|
      get path
      unlabelled = page.css("input:not([type=hidden]):not([type=submit]), textarea").reject do |field|
        page.at_css("label[for=#{field["id"]}]")
      end
      assert_empty unlabelled, path
      assert_equal ["en", 1, 1], [page.at_css("html")["lang"], page.css("h1").size, page.css("title").size], path
    end
  end

  test "the foot of the page names the release" do
    get "/"
    assert_includes page.at_css("footer").text, "Release of the tests"
  end

  test "a browser on this machine gets a dashboard and metrics, and links to them" do
    host! "127.0.0.1:3000"
    get "/rezept/index"
    assert_equal %w[/larder /metrics], page.css("footer a").map { |link| link["href"] }
    get "/larder"
    assert_response :success
    assert_equal "Overview", page.at_css("h1").text
    assert_includes page.css("nav a").map(&:text), "Sessions"
    assert_match(/script-src 'self'/, response.headers["content-security-policy"])
    get "/larder/keys", params: { pattern: "page/" }
    assert_match(%r{\Apage/\h+/}, page.at_css("main table a").text)
    get "/metrics"
    assert_match(/^larder_up 1$/, response.body)
  end

  test "a key that is deleted in the dashboard is rendered again" do
    host! "localhost:3000"
    2.times { get "/rezept/index" }
    assert_includes response.body, "its body was in the cache"
    get "/larder/keys", params: { pattern: "page/" }
    get page.at_css("main table a")["href"]
    get page.css("main a").find { |link| link.text == "Delete…" }["href"]
    press("Delete")
    assert_includes page.at_css("h1").text, "The key was deleted"
    get "/rezept/index"
    assert_includes response.body, "in the cache from now on"
  end

  test "dashboard and metrics are missing for other machines, and for names of other sites that lead here" do
    [["127.0.0.1", "10.1.2.3"], ["rebound.example", "127.0.0.1"], ["127.0.0.1.example", "127.0.0.1"]]
      .each do |name, address|
      host! name
      self.remote_addr = address
      %w[/larder /larder/keys /metrics].each do |path|
        get path, headers: { "X-Forwarded-Host" => "127.0.0.1" }
        assert_response :not_found, "#{path} #{name} #{address}"
        assert_includes response.body, "Not in this book"
        assert_empty page.css("footer a")
      end
    end
  end

  private

  # What is kept of the reader's session.
  def session_bytes
    Larder::Cache.open(Recipes.storage("sessions.larder")).get(Rack::Session::SessionId.new(id).private_id)
  end
end
