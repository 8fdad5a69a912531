# frozen_string_literal: true

require "test_helper"
require "support/generated_application"
require "support/puma_cluster"

# The first hour of a user: an application as `rails new` generates it, in production, with one line that configures the
# cache; a runner, a console, a script of cron and Puma, each in a process of its own.
class FirstHourTest < ActiveSupport::TestCase
  include TemporaryDirectory
  include Processes
  include GeneratedApplication

  # Lines of generated files and their replacements.
  LINES = { "config/environments/production.rb"  => [/^end\s*\z/, "  config.cache_store = :larder_store\nend\n"],
            "config/routes.rb"                   => [/routes.draw do$/, "\\0\n  root \"pages#show\""] }.freeze
  PAGES = <<~RUBY
    class PagesController < ActionController::Base
      def show
        made = Rails.cache.fetch("page") { "made by \#{Process.pid}" }
        render json: { page: made, visits: Rails.cache.increment("visits") }
      end
    end
  RUBY
  HTTPS = /config\.(?:force|assume)_ssl = true/
  ENVIRONMENT = { "RAILS_ENV" => "production", "SECRET_KEY_BASE" => "0" * 64 }.freeze

  setup do
    generate(LINES)
    change("config/environments/production.rb", HTTPS, "")
    File.write(place("app/controllers/pages_controller.rb"), PAGES)
  end

  test "a runner, a console, a script and Puma share the cache from their first calls on" do
    written = runner('p Rails.cache.write("report", 1, tags: "reports"), Rails.cache.write("other", 2)')
    assert_equal %w[true true], written
    assert_equal %w[0 1 true 2], console(<<~RUBY)
      puts "> \#{Rails.cache.delete_matched("zz*")}"
      puts "> \#{Rails.cache.read("report")}"
      puts "> \#{Rails.cache.delete_tagged("reports")}"
      puts "> \#{Rails.cache.read("other")}"
    RUBY
    assert_equal %w[nil 1], script("p Rails.cache.read('report'), Rails.cache.increment('visits')")
    pages = in_puma { |client| Array.new(5) { client.get("/") } }
    assert_equal [2, 3, 4, 5, 6], pages.map { |page| page["visits"] }.sort
    assert_equal 1, pages.map { |page| page["page"] }.uniq.size
    assert_equal ["6"], runner('p Rails.cache.read_counter("visits")')
    assert_equal [true, true], in_puma { |client| counted_while_it_runs(client) }
  end

  test "a cache that cannot be used is in the log of each, once, and stops nothing" do
    FileUtils.mkdir_p(place("storage/larder/production"))
    File.write(place("storage/larder/production/cache.larder"), "not a cache\n" * 1000)
    code = '20.times { p Rails.cache.fetch("page") { "made" } }'
    [runner(code), script(code)].each do |lines|
      assert_equal 20, lines.grep(/"made"/).size
      assert_reported(lines)
      assert_equal 1, lines.grep(/could not apply 1 changes/).size
    end
    pages = in_puma(workers: 1) { |client| Array.new(20) { client.get("/") } }
    assert_equal [nil], pages.map { |page| page["visits"] }.uniq
    assert_reported(@log.lines(chomp: true)) # the end of a worker may be cut short, as its parent ends
  end

  private

  # @return [Array<String>] lines of output and log, which a generated application writes to the standard output
  def run_in_application(*command, stdin: "")
    output, status = Open3.capture2e(ENVIRONMENT, RbConfig.ruby, *command, chdir: root, stdin_data: stdin)
    assert_predicate status, :success?, output
    output.lines(chomp: true)
  end

  # Requests that store nothing are counted in the file at their end, and larder stat shows them.
  #
  # @return [Array<Boolean>]
  def counted_while_it_runs(client)
    file = place("storage/larder/production/cache.larder")
    counted = Larder::Usage.read(file).last(3600).whole.hits
    found = (1..200).any? do
      client.get("/")
      sleep 0.05
      Larder::Usage.read(file).last(3600).whole.hits > counted + 4
    end
    [found, run_in_application("bin/rails", "larder:stat").grep(/\A  page /).any?]
  end

  def runner(code)
    run_in_application("bin/rails", "runner", code)
  end

  def script(code)
    run_in_application("-e", "require './config/environment'; #{code}")
  end

  def console(code)
    run_in_application("bin/rails", "console", stdin: code).grep(/\A> /).map { |line| line.delete_prefix("> ") }
  end

  def in_puma(workers: 2)
    puma = PumaCluster.new(root, File.read(place("config.ru")), workers: workers, env: ENVIRONMENT,
                                                                environment: "production")
    yield PumaClient.new(puma.socket)
  ensure
    puma&.stop
    @log = puma&.log
  end

  # Reads, and changes of each kind, have one line with the reason.
  def assert_reported(lines)
    reports = lines.grep(/LarderStore: /).grep_v(/more since the last report/)
    reports.each { |line| assert_match(/not a Larder cache; choose another path or remove it/, line) }
    assert_includes reports.map { |line| line[/LarderStore: (\w+) failed/, 1] }, "read_entry"
    assert_equal reports.uniq { |line| line[/LarderStore: (\w+) failed/, 1] }, reports
  end
end
