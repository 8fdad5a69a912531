# frozen_string_literal: true

require "support/recipes"
require "json"

module Recipes
  # What the application is told by variables, alone and booted in a Ruby of its own.
  class EnvironmentTest < ActiveSupport::TestCase
    include TemporaryDirectory

    # Prints what pages answer, as JSON: status, cookies and body.
    SCRIPT = <<~RUBY
      require ARGV.shift
      require "json"
      require "rack/mock"
      pages = Rack::MockRequest.new(Rails.application)
      puts JSON.generate(ARGV.map do |path|
        answer = pages.get(path, "HTTP_HOST" => "127.0.0.1:3000")
        [answer.status, answer["set-cookie"].to_s, answer.body]
      end)
    RUBY

    test "stores are named in JSON, with options of Symbols, and stores within them" do
      with("RECIPES_CACHE_STORE" => %(["mem_cache_store", "localhost:11211", {"expires_in": 60}]),
           "RECIPES_SESSION_STORE" => %(["larder_store", {"cache": ["redis_cache_store", {"url": "redis://x"}]}])) do
        assert_equal [:mem_cache_store, "localhost:11211", { expires_in: 60 }],
                     Recipes.store_from("RECIPES_CACHE_STORE")
        assert_equal [:larder_store, { cache: [:redis_cache_store, { url: "redis://x" }] }],
                     Recipes.store_from("RECIPES_SESSION_STORE")
      end
      with("RECIPES_CACHE_STORE" => nil) { assert_nil Recipes.store_from("RECIPES_CACHE_STORE") }
    end

    test "what is no such JSON is refused, and the variable named" do
      ["larder_store", "{}", "[]", "[1]", "[", %(["x", {"cache": []}])].each do |text|
        with("RECIPES_CACHE_STORE" => text) do
          error = assert_raises(ArgumentError, text) { Recipes.store_from("RECIPES_CACHE_STORE") }
          assert_match(/\ARECIPES_CACHE_STORE is no JSON array/, error.message)
        end
      end
    end

    test "the key of cookies is made once, for processes that start together, and is the owner's alone" do
      settings = { "RECIPES_STORAGE" => directory }
      script = "require ARGV.first; print Recipes.secret"
      starts = Array.new(6) { IO.popen(settings, [RbConfig.ruby, "-e", script, library]) }
      outputs = starts.map { |io| [io.read, io.close] }
      assert_equal 1, outputs.uniq.size
      assert_match(/\A\h{128}\z/, outputs.first.first)
      assert_equal 0o600, File.stat(path_of("secret")).mode & 0o777
      assert_equal ["secret"], Dir.children(directory)
    end

    slow_test "another session store, another cache and another database are used where they are named" do
      File.write(path_of("stores.rb"), <<~RUBY)
        class ActionDispatch::Session::NamedStore < ActionDispatch::Session::CookieStore
        end
      RUBY
      elsewhere = { "RECIPES_REQUIRE" => path_of("stores.rb"), "RECIPES_RELEASE" => "of another day",
                    "RECIPES_SESSION_STORE" => %(["named_store", {"key": "_named"}]),
                    "RECIPES_CACHE_STORE" => %(["memory_store", {"size": 1000000}]),
                    "RECIPES_DATABASE" => RecipesFiles.copy(path_of("recipes.sqlite3")),
                    "RECIPES_STORAGE" => path_of("elsewhere"), "RAILS_ENV" => "test" }
      welcome, cached, again = answers(elsewhere, "/", "/rezept/index", "/rezept/index")
      assert_match(/\A_named=/, welcome[1])
      assert_equal %w[MemoryStore NamedStore], welcome[2].scan(%r{<code>(\w+)</code>}).flatten
      assert_match(/Release of another day/, welcome[2])
      assert_equal ["from now on", "was in"], [cached, again].map { |page| page[2][/from now on|was in/] }
      assert_equal %w[log secret], Dir.children(path_of("elsewhere")).sort
    end

    slow_test "in development no page is cached" do
      settings = { **RecipesFiles.storage_in(path_of("storage")), "RAILS_ENV" => "development" }
      pages = answers(settings, "/rezept/index", "/rezept/index")
      assert_equal([[200, "nothing of it is cached"]] * 2,
                   pages.map { |status, _, body| [status, body[/nothing of it is cached/]] })
    end

    private

    def library
      File.join(RecipesFiles::APPLICATION, "lib/recipes.rb")
    end

    # @return [Array<Array(Integer, String, String)>] status, cookie and body of each page
    def answers(settings, *paths)
      output, errors, status = Open3.capture3(settings, RbConfig.ruby, "-w", "-e", SCRIPT,
                                              File.join(RecipesFiles::APPLICATION, "config/environment"), *paths)
      assert_predicate status, :success?, errors
      JSON.parse(output)
    end

    def with(settings)
      before = ENV.to_h.slice(*settings.keys)
      ENV.update(settings)
      yield
    ensure
      ENV.update(settings.transform_values { nil }).update(before)
    end
  end
end
