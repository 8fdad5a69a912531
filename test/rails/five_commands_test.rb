# frozen_string_literal: true

require "test_helper"
require "net/http"
require "support/generated_application"

# The README's way, in five commands: a new application with a cached fragment gets the dashboard behind a password and
# metrics that are scraped.
class FiveCommandsTest < ActiveSupport::TestCase
  include TemporaryDirectory
  include Processes
  include GeneratedApplication

  REPOSITORY = File.expand_path("../..", __dir__)
  PASSWORD = "p" * 20
  TOKEN = "t" * 20
  SECRETS = { "RAILS_ENV" => "production", "SECRET_KEY_BASE" => "0" * 64, "LARDER_PASSWORD" => PASSWORD,
              "LARDER_METRICS_TOKEN" => TOKEN }.freeze

  setup do
    generate("config/routes.rb" => [/routes.draw do$/, "\\0\n  root \"pages#show\""],
             "config/application.rb" => [/^Bundler\.require.*/, "\\0"])
    File.write(place("app/controllers/pages_controller.rb"), <<~RUBY)
      class PagesController < ActionController::Base
        def show
        end
      end
    RUBY
    FileUtils.mkdir_p(place("app/views/pages"))
    File.write(place("app/views/pages/show.html.erb"),
               "<% cache \"greeting\" do %>made at <%= Time.now.to_f %><% end %>")
    File.write(place("Gemfile"), ["rails", "puma"].map { |name| "gem #{name.dump}, #{version(name).dump}\n" }
                                                   .unshift("source \"https://rubygems.org\"\n").join)
  end

  test "the page is cached, the dashboard asks for a password, and the metrics for a token" do
    # `bundle add larder` writes this line, without the path.
    File.write(place("Gemfile"), "gem \"larder\", path: #{REPOSITORY.dump}\n", mode: "a")
    command("bundle", "install", "--local")
    command("bin/rails", "generate", "larder:install", "--dashboard", "--metrics")
    served do |port|
      pages = Array.new(3) { get(port, "/") }
      assert_equal [["200", pages.first.last]], pages.uniq
      assert_match(/\Amade at /, pages.first.last)
      assert_equal "401", get(port, "/larder").first
      assert_equal "401", get(port, "/larder") { |one| one.basic_auth("larder", "wrong") }.first
      assert_match(%r{<h1[^>]*>Overview}, get(port, "/larder") { |one| one.basic_auth("larder", PASSWORD) }.last)
      assert_equal "404", get(port, "/metrics").first
      metrics = get(port, "/metrics") { |one| one["Authorization"] = "Bearer #{TOKEN}" }.last
      assert_match(/^larder_up 1$/, metrics)
      assert_operator metrics[/^larder_hits_total (\d+)/, 1].to_i, :>=, 2
    end
  end

  private

  def version(name)
    Gem.loaded_specs.fetch(name) { Gem::Specification.find_by_name(name) }.version.to_s
  end

  # The gems of this repository are installed for it, and no server is asked.
  def variables
    gems = Bundler.bundle_path.to_s.sub(%r{/ruby/[\d.]+\z}, "")
    { **SECRETS, "BUNDLE_GEMFILE" => place("Gemfile"), "BUNDLE_PATH" => gems, "BUNDLE_LOCAL" => "true" }
  end

  def command(*words)
    output, status = Bundler.with_unbundled_env { Open3.capture2e(variables, *words, chdir: root) }
    assert_predicate status, :success?, output
  end

  def served
    port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    log = place("server.log")
    pid = Bundler.with_unbundled_env do
      Process.spawn(variables, "bin/rails", "server", "--port", port.to_s, "--binding", "127.0.0.1", chdir: root,
                                                                           [:out, :err] => log)
    end
    assert(eventually { answers?(port) }, -> { File.read(log) })
    yield port
  ensure
    end_server(pid) if pid
  end

  def answers?(port)
    TCPSocket.new("127.0.0.1", port).close
    true
  rescue Errno::ECONNREFUSED
    false
  end

  # As a proxy that ends TLS sends it.
  def get(port, path)
    request = Net::HTTP::Get.new(path, "X-Forwarded-Proto" => "https")
    yield request if block_given?
    answer = Net::HTTP.start("127.0.0.1", port, read_timeout: 60) { |http| http.request(request) }
    [answer.code, answer.body]
  end
end
