# frozen_string_literal: true

# The application's settings from its environment: where it writes, which stores it uses, which release it is.
# Loaded before the application is configured; knows no part of it.

require "digest"
require "fileutils"
require "json"
require "securerandom"
require_relative "recipes/password"
require_relative "recipes/stylesheet"
require_relative "recipes/vocabulary"

# A cook book, and an example of Larder as cache and session store.
module Recipes
  # Where the application is.
  ROOT = File.expand_path("..", __dir__)

  # Who may sign in, and with what. The application is a demonstration, and says so on its page.
  USERS = { "demo" => "hungry-for-more", "guest" => "only-looking" }.freeze

  # Options of stores that name a store themselves.
  NESTED = %i[cache backed_by].freeze
  # How a browser on this machine names the server.
  OWN_MACHINE = /\A(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?\z/
  # How a database on a server is named.
  SERVER = %r{\A(?:trilogy|mysql2)://}
  private_constant :NESTED, :OWN_MACHINE, :SERVER

  module_function

  # @param name [String, nil] of a file in it, whose directory is made
  # @return [String] absolute path of the directory that everything is written to, or of a file there
  def storage(name = nil)
    directory = File.expand_path(given("RECIPES_STORAGE") || "storage", ROOT)
    path = name ? File.join(directory, name) : directory
    FileUtils.mkdir_p(name ? File.dirname(path) : path)
    path
  end

  # @return [String] absolute path of the SQLite file, or the URL of a database of MariaDB or MySQL
  def database
    place = given("RECIPES_DATABASE") or return storage("recipes.sqlite3")
    place.match?(SERVER) ? place : File.expand_path(place)
  end

  # @return [Hash{String => String}] what Active Record connects to
  def connection
    place = database
    place.match?(SERVER) ? { "url" => place } : { "adapter" => "sqlite3", "database" => place }
  end

  # @return [String] what is shown as the version that runs
  def release
    given("RECIPES_RELEASE") || "1"
  end

  # @return [String] changes when a view, or what helps it, does
  def views
    @views ||= begin
      files = Dir[File.join(ROOT, "app/{views,helpers}/**/*.{erb,rb}")].sort
      Digest::SHA256.hexdigest(files.map { |file| File.binread(file) }.join("\0"))[0, 12]
    end
  end

  # @return [Boolean] can Larder be asked who is signed in?
  def sessions_in_larder?
    Rails.application.config.session_store.to_s == "ActionDispatch::Session::LarderStore"
  end

  # @return [Boolean] is the cache Larder's, which has pages about it?
  def cache_in_larder?
    name = Rails.cache.class.name # the class is not loaded if another store is used
    name == "ActiveSupport::Cache::LarderStore"
  end

  # A site of another machine can have a name that leads here, so the name is checked, too. An application behind a
  # proxy needs another rule: the sign-in of its administrators, or a password.
  #
  # @param request [ActionDispatch::Request]
  # @return [Boolean] was it sent by a program on this machine?
  def own_machine?(request)
    request.local? && OWN_MACHINE.match?(request.get_header("HTTP_HOST").to_s)
  end

  # @return [Stylesheet] the one of all pages
  def stylesheet
    @stylesheet ||= Stylesheet.new(File.join(ROOT, "public/recipes.css"))
  end

  # @return [Array<String>] Ruby files to require before the application is configured
  def required_files
    given("RECIPES_REQUIRE").to_s.split(File::PATH_SEPARATOR).map { |file| File.expand_path(file) }
  end

  # A store as Rails' configuration takes it, from a variable that holds a JSON array: its name, arguments, and options
  # as a last object.
  #
  # @example RECIPES_CACHE_STORE='["mem_cache_store", "localhost:11211", {"expires_in": 60}]'
  # @param variable [String]
  # @return [Array, nil] nil: the variable is not set
  # @raise [ArgumentError] naming the variable
  def store_from(variable)
    text = given(variable)
    text && store(JSON.parse(text))
  rescue JSON::ParserError, TypeError
    raise ArgumentError, %(#{variable} is no JSON array such as ["cookie_store", {"key": "_recipes"}]: #{text})
  end

  # @return [String] the key that cookies are encrypted with: made at the first start, then always the same
  def secret
    path = storage("secret")
    return File.read(path) if File.exist?(path)

    # Linked whole, so that of processes that start together all read what the first has written.
    draft = "#{path}.#{Process.pid}"
    File.write(draft, SecureRandom.hex(64), perm: 0o600)
    begin
      File.link(draft, path)
    rescue Errno::EEXIST
      nil # another was first
    ensure
      File.unlink(draft)
    end
    File.read(path)
  end

  def given(variable)
    value = ENV.fetch(variable, "")
    value.empty? ? nil : value
  end

  def store(parts)
    raise TypeError, "no list" unless parts.is_a?(Array) && parts.first.is_a?(String)

    name, *rest = parts
    [name.to_sym, *rest.map { |part| part.is_a?(Hash) ? store_options(part) : part }]
  end

  def store_options(options)
    options.to_h do |key, value|
      key = key.to_sym
      [key, NESTED.include?(key) && value.is_a?(Array) ? store(value) : value]
    end
  end
  private_class_method :given, :store, :store_options
end
