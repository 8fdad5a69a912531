# frozen_string_literal: true

# Creates the database: its tables, all of them before another process sees it. Rails' models of it are in
# app/models.

require "active_record"
require "zlib"
require_relative "../recipes"
require_relative "generator"
require_relative "password"

module Recipes
  # The SQLite file, or the database of a server, that Recipes.database names.
  module Database
    # Rows of one INSERT.
    BATCH = 500
    # Seconds that a process waits for another one that makes the tables on a server.
    PATIENCE = 60
    private_constant :BATCH, :PATIENCE

    # A connection of its own to the database that is being made.
    class Draft < ActiveRecord::Base
      self.abstract_class = true
    end
    private_constant :Draft

    module_function

    # Makes the database where it is missing, or, in a file, where it was made by another generator. Of processes that
    # do so at a time one makes it and the others wait.
    #
    # @return [Boolean] was it made now?
    def prepare
      connection = Recipes.connection
      connection.key?("url") ? prepare_on_server(connection) : prepare_file(connection.fetch("database"))
    end

    def prepare_file(path)
      FileUtils.mkdir_p(File.dirname(path))
      File.open("#{path}.lock", File::RDWR | File::CREAT, 0o600) do |lock|
        lock.flock(File::LOCK_EX)
        return false if version_of(path) == version

        make(path)
      end
      true
    end

    # @return [Integer] another one for other recipes or other tables
    def version
      @version ||= begin
        sources = Dir["{generator,vocabulary,database,password}.rb", "vocabulary/*.rb", base: __dir__].sort
        bytes = sources.map { |file| File.binread(File.join(__dir__, file)) }
        Zlib.crc32([USERS.inspect, *bytes].join) & 0x7fffffff
      end
    end

    # The lock ends with the connection. The table of notes is the last one.
    def prepare_on_server(place)
      Draft.establish_connection(place)
      connection = Draft.connection
      connection.select_value("SELECT GET_LOCK('recipes', #{PATIENCE})")
      return false if connection.table_exists?("notes")

      fill(connection)
      true
    ensure
      Draft.remove_connection
    end

    # SQLite keeps user_version at byte 60 of the file.
    def version_of(path)
      return unless File.size?(path)

      header = File.binread(path, 64)
      header.unpack1("@60N") if header.start_with?("SQLite format 3\0") && header.bytesize == 64
    end

    def make(path)
      draft = "#{path}.draft"
      FileUtils.rm_f(Dir["#{draft}*"])
      Draft.establish_connection(adapter: "sqlite3", database: draft)
      Draft.connection.execute("PRAGMA journal_mode = MEMORY")
      Draft.connection.execute("PRAGMA synchronous = OFF")
      fill(Draft.connection)
      Draft.connection.execute("PRAGMA user_version = #{version}")
      Draft.remove_connection
      FileUtils.rm_f(["#{path}-wal", "#{path}-shm"])
      File.rename(draft, path)
    end

    def fill(connection)
      connection.transaction do
        make_tables(connection)
        generator = Generator.new
        insert("users", users)
        insert("recipes", generator.recipes.map { |recipe| recipe.except(:ingredients) })
        insert("ingredients", ingredients(generator))
        make_notes(connection)
        insert("notes", notes(generator))
      end
    end

    def make_tables(connection)
      connection.create_table(:users) do |t|
        t.string :name, null: false, index: { unique: true }
        t.string :password_digest
      end
      connection.create_table(:recipes) do |t|
        t.string :name, null: false, index: { unique: true }
        %i[title gloss letter categories introduction colours].each { |column| t.string(column, null: false) }
        t.text :steps, null: false
        t.integer :serves, null: false
        t.integer :minutes, null: false
        t.index [:letter, :title]
      end
      connection.create_table(:ingredients) do |t|
        t.references :recipe, null: false
        t.string :amount, null: false
        t.string :thing, null: false
      end
    end

    def make_notes(connection)
      connection.create_table(:notes) do |t|
        t.references :recipe, null: false
        t.references :user, null: false
        t.text :body, null: false
        t.datetime :created_at, null: false
      end
    end

    # @return [Hash{String => Integer}] names and their ids
    def ids
      (USERS.keys + Vocabulary::READERS).each.with_index(1).to_h
    end

    def users
      ids.map do |name, id|
        password = USERS[name] # those who only leave notes have none and cannot sign in
        { id: id, name: name, password_digest: password && Password.digest(password) }
      end
    end

    def ingredients(generator)
      generator.recipes.flat_map do |recipe|
        recipe[:ingredients].map { |amount, thing| { recipe_id: recipe[:id], amount: amount, thing: thing } }
      end
    end

    def notes(generator)
      generator.notes.each_with_index.map do |note, index|
        { recipe_id: note[:recipe_id], user_id: ids.fetch(note[:reader]), body: note[:body],
          created_at: Time.utc(2026, 1, 1) + (index * 7200) }
      end
    end

    def insert(table, rows)
      model = Class.new(Draft) { self.table_name = table }
      rows.each_slice(BATCH) { |batch| model.insert_all!(batch, record_timestamps: false) }
    end
    private_class_method :prepare_file, :prepare_on_server, :version_of, :make, :fill, :make_tables, :make_notes, :ids,
                         :users, :ingredients, :notes, :insert
  end
end
