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
  ENVIRONMENT = { RAILS_ENV: "production", SECRET_KEY_BASE: "0" * 64 }.freeze

  setup do
    generate("config/routes.rb" => [/routes.draw do$/, "\\0\n  root \"pages#show\""])
    change("config/environments/production.rb", /config\.(?:force|assume)_ssl = true/, "")
    write("app/controllers/pages_controller.rb", PAGES)
    FileUtils.mkdir(place(".git"))
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

  def rails(*words)
    output, status = run_in("bin/rails", *words, **ENVIRONMENT)
    assert_predicate status, :success?, output
    output.gsub(/\e\[\d*m/, "")
  end
end
