# frozen_string_literal: true

require "test_helper"
require "json"
require "larder/cli"
require "support/generated_application"

# bin/rails larder:stat and the like, in an application as `rails new` generates it.
class LarderCommandTest < ActiveSupport::TestCase
  include TemporaryDirectory
  include GeneratedApplication

  # Configuration of each environment.
  STORES = {
    "production" => 'config.cache_store = :larder_store, "storage/shop.larder", { size: "2MB" }',
    "test"       => 'config.cache_store = :larder_store, { remote: [:redis_cache_store, { url: "redis://:1" }] }'
  }.freeze
  # The store that `rails new` configures for development, by version of Rails.
  OTHERS = /the cache of the environment development is ActiveSupport::Cache::(?:Null|Memory)Store, not a Larder/
  SESSIONS = 'Rails.application.config.session_store :larder_store, file: "storage/people.larder", ephemeral: true'

  setup do
    generate(STORES.to_h { |name, line| ["config/environments/#{name}.rb", [/^end\s*\z/, "  #{line}\nend\n"]] })
  end

  test "the commands act on the file of the configured store, with their options and exit codes" do
    assert_match(/\Alarder: there is no file #{place("storage/shop.larder")} \(the file of config.cache_store\)/,
                 failed(1, "larder:stat"))
    fill
    assert_match(/\ACache #{place("storage/shop.larder")}$.*^  items +2 /m, done("larder:stat"))
    assert_equal [place("storage/shop.larder"), 2], JSON.parse(done("larder:stat", "--json")).values_at("file", "items")
    assert_match(/\ADeleted 1 item with the prefix vi /, done("larder:clear", "--prefix", "vi"))
    assert_equal 4 << 20, JSON.parse(done("larder:resize", "4MB", "--json"))["size_bytes"]
    assert_match(/ has 3\.0 MiB now/, done("larder:resize", "storage/shop.larder", "3MB"))
    assert_equal "larder: invalid option: --bogus\nTry: larder stat --help\n", failed(2, "larder:stat", "--bogus")
    assert_match(/unexpected argument b/, failed(2, "larder:stat", "a", "b"))
  end

  test "larder:doctor of a store that has no file yet asks for the room that the store wants" do
    assert_match(/there is no file .* application creates it at its first use/, failed(1, "larder:doctor"))
    File.write(place("config/environments/production.rb"),
               File.read(place("config/environments/production.rb")).sub("2MB", "900GB"))
    out, err, code = rails("larder:doctor")
    assert_equal ["", 1], [err, code]
    assert_match(/takes 921600\.0 MiB, and/, out.gsub(/\s+/, " "))
  end

  test "a cache that is not Larder's is named with what to do, and a file that is named is used" do
    assert_match OTHERS, failed(1, "larder:stat", environment: "development")
    fill
    assert_match(/^  items +2 /, done("larder:stat", "storage/shop.larder", environment: "development"))
  end

  test "a store with a store behind it has its file shown, and a line says that it is not all" do
    out, err, code = rails("larder:stat", environment: "test")
    assert_equal ["", 1], [out, code]
    assert_match(/\AThe file has this machine's copies of what is in ActiveSupport::Cache::RedisCacheStore, /, err)
    assert_match(%r{no file #{place("storage/larder/test/cache.larder")} }, err)
  end

  test "larder:sessions acts on the file of the configured sessions" do
    assert_match(/the sessions of the environment production are .*CookieStore, not a Larder store/,
                 failed(1, "larder:sessions"))
    File.write(place("config/initializers/session_store.rb"), SESSIONS)
    assert_match(/no file #{place("storage/people.larder")} \(the file of config.session_store\)/,
                 failed(1, "larder:sessions"))
    in_rails("Larder::Sessions.active(last: 60)")
    assert_match(/\ASessions in #{place("storage/people.larder")}$/, done("larder:sessions"))
    assert_equal "7 was not signed in.\n", done("larder:sessions", "logout", "7")
    File.write(place("config/initializers/session_store.rb"), SESSIONS.sub(/file:.*/, "cache: :memory_store"))
    assert_match(/sessions are in the store of cache:, not in a file/, failed(1, "larder:sessions"))
  end

  test "Rails lists the commands, and their help is that of larder" do
    listed = done("--help").scan(/^larder:(\w+) /).flatten
    assert_equal Larder::CLI::Commands.of_files.sort, listed
    assert_equal Larder::CLI::Stat.new.help, done("larder:stat", "--help")
    assert_match(/\AUsage: larder sessions logout ID /, done("larder:sessions", "logout", "--help"))
    assert_match(/Unrecognized command "larder:nonsense"/, rails("larder:nonsense").first)
  end

  test "an application that starts loads neither the commands nor the command line" do
    loaded = in_rails("puts $LOADED_FEATURES")
    assert_match(%r{/larder/rails/railtie\.rb$}, loaded)
    assert_no_match(%r{/larder/cli|configured_files|larder_command}, loaded)
  end

  private

  def fill
    in_rails('Rails.cache.write("views/1", "x"); Rails.cache.write("other", 2)')
  end

  def in_rails(code)
    done("runner", code)
  end

  # @return [Array(String, String, Integer)] output, errors, exit code
  def rails(*words, environment: "production")
    settings = { "RAILS_ENV" => environment, "SECRET_KEY_BASE" => "0" * 64, "LARDER_PATH" => nil }
    out, err, status = Open3.capture3(settings, RbConfig.ruby, "bin/rails", *words, chdir: root)
    [out, err, status.exitstatus]
  end

  def done(...)
    out, err, code = rails(...)
    assert_equal ["", 0], [err, code]
    out
  end

  # @return [String] errors
  def failed(expected, ...)
    out, err, code = rails(...)
    assert_equal ["", expected], [out, code], err
    err
  end
end
