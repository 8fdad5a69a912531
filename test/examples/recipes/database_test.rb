# frozen_string_literal: true

require "support/recipes"
require "support/servers"
require "sqlite3"

module Recipes
  # The database: made whole, once, and again when it has to be.
  class DatabaseTest < ActiveSupport::TestCase
    include TemporaryDirectory

    slow_test "of processes that start together one makes it, and all find it whole" do
      settings = { "RECIPES_DATABASE" => path_of("new/recipes.sqlite3") }
      starts = Array.new(2) { IO.popen(settings, [RbConfig.ruby, prepare]) }
      said = starts.map { |io| io.read[/: (.+)/, 1].tap { io.close } }
      assert_equal ["is there", "made"], said.sort
      assert_equal [[3000], [10]], rows(path_of("new/recipes.sqlite3"), "SELECT count(*) FROM %s", "recipes", "users")
      assert_equal %w[recipes.sqlite3 recipes.sqlite3.lock], Dir.children(path_of("new")).sort
    end

    slow_test "one of another generator is made again, and so is what is no database" do
      FileUtils.cp(RecipesFiles.prepared, path_of)
      SQLite3::Database.new(path_of) { |database| database.execute("PRAGMA user_version = 1") }
      File.write(path_of("text"), "No database")
      [path_of, path_of("text")].map { |path| Thread.new { prepare_at(path) } }.each do |start|
        assert_match(/made/, start.value)
      end
    end

    slow_test "on MariaDB, of processes that start together one makes it, and all find it whole" do
      type = Larder::Lab::Servers.fetch("mariadb")
      skip "mariadbd is not installed" unless type.path

      server = type.new(path_of("server").tap { |path| Dir.mkdir(path) }).tap(&:start)
      database = "trilogy://root@localhost/recipes?socket=#{server.endpoint["socket"]}"
      ask(server, "CREATE DATABASE recipes")
      starts = Array.new(2) { Thread.new { prepare_at(database)[/: (is there|made)/, 1] } }
      assert_equal ["is there", "made"], starts.map(&:value).sort
      assert_equal "3000\n", ask(server, "SELECT count(*) FROM recipes.recipes")
      assert_equal "myknzlpzl\n", ask(server, "SELECT name FROM recipes.recipes WHERE id = 713")
    ensure
      server&.stop
    end

    test "it has what the generator invented, and who may sign in" do
      names, = rows(RecipesFiles.prepared, "SELECT name FROM recipes WHERE id = %s", "713")
      assert_equal ["myknzlpzl"], names
      count, = rows(RecipesFiles.prepared, "SELECT count(*) FROM ingredients WHERE recipe_id = %s", "713")
      assert_equal [7], count
      demo, anna = rows(RecipesFiles.prepared, "SELECT password_digest FROM users WHERE name = '%s'", "demo", "anna")
      assert_match(/\A16384\$8\$5\$/, demo.first)
      assert_nil anna.first
    end

    private

    def prepare
      File.join(RecipesFiles::APPLICATION, "bin/prepare")
    end

    def ask(server, query)
      arguments = ["--no-defaults", "-uroot", "-N", "-S", server.endpoint["socket"], "-e", query]
      output, status = Open3.capture2e("mariadb", *arguments)
      assert_predicate status, :success?, output
      output
    end

    def prepare_at(path)
      output, status = Open3.capture2e({ "RECIPES_DATABASE" => path }, RbConfig.ruby, "-w", prepare)
      assert_predicate status, :success?, output
      output
    end

    def rows(path, query, *values)
      database = SQLite3::Database.new(path, readonly: true)
      values.map { |value| database.execute(format(query, value)).flatten }
    ensure
      database&.close
    end
  end
end
