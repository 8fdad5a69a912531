# frozen_string_literal: true

# The recipes application for tests: a database that is prepared once for all of them and copied, and the application
# booted in this process, in a directory of its own.

require "test_helper"
require_relative "../../examples/recipes/lib/recipes"

# Where the application is, and what it is run with.
module RecipesFiles
  ROOT = File.expand_path("../..", __dir__)
  APPLICATION = File.join(ROOT, "examples/recipes")

  module_function

  # Makes a storage with a database in it.
  #
  # @param directory [String] which is made
  # @return [Hash{String => String}] variables that name it, and nothing else of the application's
  def storage_in(directory)
    FileUtils.mkdir_p(directory)
    copy(File.join(directory, "recipes.sqlite3"))
    ENV.keys.grep(/\ARECIPES_/).to_h { |name| [name, nil] }.merge("RECIPES_STORAGE" => directory)
  end

  # @param path [String] of a new database
  # @return [String] the same
  def copy(path)
    FileUtils.cp(prepared, path)
    path
  end

  # @return [String] path of a database that no test writes to
  def prepared
    @prepared ||= begin
      path = File.join(ROOT, "tmp/recipes/recipes.sqlite3")
      settings = { "RECIPES_STORAGE" => nil, "RECIPES_DATABASE" => path }
      output, status = Open3.capture2e(settings, RbConfig.ruby, "-w", File.join(APPLICATION, "bin/prepare"))
      raise "the database cannot be prepared: #{output}" unless status.success?

      path
    end
  end
end
