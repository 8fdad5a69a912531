# frozen_string_literal: true

# An application as `rails new` generates it, in the directory of a test. The Gemfile is that of this repository.

require "open3"
require "rails"
require "rbconfig"

module GeneratedApplication
  # The gem is loaded by name, as the application has no Gemfile of its own.
  REQUIRED = [/^Bundler.require.*/, 'require "larder"'].freeze

  # @param lines [Hash] file => a line of it and its replacement
  def generate(lines = {})
    made, status = Open3.capture2e(RbConfig.ruby, Gem.bin_path("railties", "rails"), "new", root, "--minimal",
                                   "--quiet", "--skip-bundle", "--skip-git", "--skip-active-record",
                                   "--skip-asset-pipeline")
    assert_predicate status, :success?, made
    { "config/application.rb" => REQUIRED, **lines }.each { |file, (line, new)| change(file, line, new) }
  end

  def root
    path_of("shop")
  end

  def place(file)
    File.join(root, file)
  end

  def change(file, line, replacement)
    text = File.read(place(file))
    assert_match line, text, file
    File.write(place(file), text.gsub(line, replacement))
  end
end
