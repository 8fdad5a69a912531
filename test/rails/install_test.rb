# frozen_string_literal: true

require "test_helper"
require "support/generated_application"
require "support/guide_files"

# bin/rails generate larder:install, in an application as `rails new` generates it.
class InstallTest < ActiveSupport::TestCase
  include TemporaryDirectory
  include GeneratedApplication
  include GuideFiles

  # A page that uses both.
  PAGES = <<~RUBY
    class PagesController < ActionController::Base
      def show
        session[:visits] = session[:visits].to_i + 1
        render plain: [Rails.cache.fetch("page") { "made" }, session[:visits]].join(" ")
      end
    end
  RUBY
  VISIT = <<~RUBY
    require "rack/mock"
    cookie = nil
    pages = Array.new(2) do
      answer = Rack::MockRequest.new(Rails.application).get("https://localhost/", "HTTP_COOKIE" => cookie.to_s)
      cookie = Array(answer["set-cookie"]).join("\\n")[/\\A[^;]+/] || cookie
      answer.body
    end
    puts [Rails.cache.class, cookie[/\\A[^=]+/], *pages].join("|")
  RUBY
  # Answers to a browser, to a collector with a wrong token, and to one with the right token.
  SECURED = <<~RUBY
    require "rack/mock"
    visits = [["/larder", {}], ["/metrics", { "HTTP_AUTHORIZATION" => "Bearer wrong" }],
              ["/metrics", { "HTTP_AUTHORIZATION" => "Bearer \#{"t" * 20}" }]]
    client = Rack::MockRequest.new(Rails.application)
    puts visits.map { |path, headers| client.get("https://localhost\#{path}", headers).status }.join(" ")
  RUBY
  ENVIRONMENT = { RAILS_ENV: "production", SECRET_KEY_BASE: "0" * 64 }.freeze

  setup do
    generate("config/routes.rb" => [/routes.draw do$/, "\\0\n  root \"pages#show\""])
    change("config/environments/production.rb", /config\.(?:force|assume)_ssl = true/, "")
    write("app/controllers/pages_controller.rb", PAGES)
    FileUtils.mkdir(place(".git"))
  end

  test "a route that answers all paths does not hide the mounts, and is named where it does" do
    change("config/routes.rb", /^end$/, "  match \"*path\", to: \"pages#show\", via: :all\nend")
    assert_no_match(/^ +hidden /, rails("generate", "larder:install", "--dashboard", "--metrics"))
    # With a wrong token the metrics are hidden, so the catch-all answers.
    assert_equal "401 200 200", secured(LARDER_PASSWORD: "p" * 20, LARDER_METRICS_TOKEN: "t" * 20)
    change("config/routes.rb", /(draw do\n)(.*)(  match[^\n]*\n)/m, "\\1\\3\\2")
    assert_match(%r{hidden +/\*path.* comes before the mount of /larder and answers its pages: put the mount before it},
                 rails("generate", "larder:install", "--dashboard"))
  end

  test "an application has its cache and sessions in Larder, again after it was run twice, and not after destroy" do
    before = sources
    assert_match(/ update +config\/environments\/production\.rb$/, rails("generate", "larder:install", "--sessions"))
    after = sources
    assert_match(/ identical +config\/environments\/production\.rb$/, rails("generate", "larder:install", "--sessions"))
    assert_equal after, sources
    assert_equal "ActiveSupport::Cache::LarderStore|_shop_session|made 1|made 2", visit
    assert_equal %w[cache.larder sessions.larder],
                 Dir.children(place("storage/larder/production")).grep(/\.larder\z/).sort
    assert_match(/^Cache /, rails("larder:stat"))
    rails("destroy", "larder:install")
    assert_equal before, sources
    assert_match(/\AActiveSupport::Cache::(?!Larder)\w+\|_shop_session\|made 1\|made 2\z/, visit)
  end

  test "the dashboard and the metrics are denied without their secrets" do
    missing = %w[dashboard metrics].reject { |name| $LOAD_PATH.resolve_feature_path("larder/#{name}") }
    skip("Larder has no #{missing.join(", ")}") if missing.any?
    rails("generate", "larder:install", "--dashboard", "--metrics")
    assert_equal "404 404 404", secured
    assert_equal "401 404 200", secured(LARDER_PASSWORD: "p" * 20, LARDER_METRICS_TOKEN: "t" * 20)
  end

  test "options of the former cache hold in the new one" do
    change("config/environments/production.rb", /^end\n\z/, <<~RUBY)
        config.cache_store = :file_store, "tmp/cache", {
          expires_in: 1.day, namespace: -> { Rails.env }
        }
      end
    RUBY
    output = rails("generate", "larder:install")
    assert_match(/left out: "tmp\/cache" \(config\/environments\/production\.rb:\d+\);/, output)
    assert_equal "ActiveSupport::Cache::LarderStore 86400 production",
                 rails("runner", "puts [Rails.cache.class, Rails.cache.options[:expires_in].to_i, " \
                                 "Rails.cache.options[:namespace].call].join(' ')").lines.last.chomp
  end

  test "an application without the middleware of sessions has them with the lines of the output" do
    change("config/application.rb", /^ +class Application.*\n/, "\\0    config.api_only = true\n")
    lines = rails("generate", "larder:install", "--sessions").lines.map(&:lstrip).grep(/middleware\.use/)
    assert_equal 2, lines.size
    sessions = "config/initializers/session_store.rb"
    write(sessions, File.read(place(sessions)) + lines.join)
    assert_equal "ActiveSupport::Cache::LarderStore|_shop_session|made 1|made 2", visit
  end

  test "routes that the mount hides are named" do
    change("config/routes.rb", /^  root/, "  get \"larder/items\", to: \"pages#show\"\n  root")
    output = rails("generate", "larder:install", "--dashboard")
    assert_match(/hidden +the mount of \/larder comes before GET \/larder\/items\b.*: give one of them another/, output)
    assert_no_match(/hidden /, rails("generate", "larder:install", "--dashboard"))
  end

  test "--pretend changes nothing, and --help lists the options" do
    before = sources
    assert_match(/ create +\.gitignore$/, rails("generate", "larder:install", "--pretend", "--dashboard", "--metrics"))
    assert_equal before, sources
    help = rails("generate", "larder:install", "--help")
    %w[sessions dashboard metrics].each { |option| assert_match(/\[?--(?:\[no-\])?#{option}\b/, help) }
    assert_match(/^ +larder:install$/, rails("generate", "--help"))
  end

  private

  # @return [Hash{String=>String}] files that the generator may change
  def sources
    Dir.glob("{config/**/*,.gitignore,.dockerignore}", base: root).select { |file| File.file?(place(file)) }
       .to_h { |file| [file, File.binread(place(file))] }
  end

  def visit
    rails("runner", VISIT).lines.last.chomp
  end

  def secured(**variables)
    rails("runner", SECURED, **variables).lines.last.chomp
  end

  def rails(*words, **variables)
    output, status = run_in("bin/rails", *words, **ENVIRONMENT, **variables)
    assert_predicate status, :success?, output
    output.gsub(/\e\[\d*m/, "")
  end
end
