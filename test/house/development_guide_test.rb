# frozen_string_literal: true

require "test_helper"
require "support/generated_application"
require "support/guide_files"

module House
  # The guide to development: its configuration is put into an application as `rails new` generates it, and its commands
  # are run there.
  class DevelopmentGuideTest < ActiveSupport::TestCase
    include TemporaryDirectory
    include GeneratedApplication
    include GuideFiles

    GUIDE = "docs/guides/development.md"
    TEXT = GuideFiles.text(GUIDE)
    COMMANDS = TEXT.scan(/`(bin\/rails larder:[^`]+)`/).flatten.uniq +
               TEXT.scan(/^\$ (bin\/rails larder:(?:stat|keys|get).*)$/).flatten
    # Commands that need the entries come before those that delete them.
    ORDER = [/:(?:stat|keys|get)/, /:delete/, //].freeze

    setup do
      generate
      environment = "config/environments/development.rb"
      change(environment, /^  if Rails\.root\.join.*?^  end\n/m, "")
      change(environment, /^ +config\.cache_store = .*\n/, "") if File.read(place(environment)).include?("cache_store")
      place_files(GuideFiles.of(GUIDE))
    end

    test "the cache is off, and bin/rails dev:cache turns it on and off" do
      assert_equal "ActiveSupport::Cache::NullStore", store
      done("bin/rails", "dev:cache")
      assert_equal "ActiveSupport::Cache::LarderStore", store
      assert_equal (64 << 20).to_s, rails("Rails.cache.cache.size")
      done("bin/rails", "dev:cache")
      assert_equal "ActiveSupport::Cache::NullStore", store
    end

    test "the commands that show and delete entries run" do
      done("bin/rails", "dev:cache")
      rails('Rails.cache.write("prices/7", 700, tags: "products")')
      assert_operator COMMANDS.size, :>=, 7
      ordered = COMMANDS.sort_by { |command| ORDER.index { |pattern| pattern.match?(command) } }
      ordered.each { |command| done(*Shellwords.split(command)) }
      assert File.exist?(place("storage/larder/development/cache.larder"))
    end

    test "a console answers what the guide shows" do
      done("bin/rails", "dev:cache")
      write, *questions = TEXT[/In a console:\n\n```ruby\n(.*?)^```/m, 1].lines(chomp: true)
      codes, answers = questions.map { |line| line.split(/ +# => /) }.transpose
      assert_equal answers.join("|"), rails("#{write}; [#{codes.join(", ")}].map(&:inspect).join('|')")
    end

    private

    def store
      rails("Rails.cache.class")
    end

    def rails(code)
      done("bin/rails", "runner", "puts(begin #{code} end)").lines.last.chomp
    end

    def done(*command)
      output, status = run_in(*command)
      assert_predicate status, :success?, "#{command.join(" ")}: #{output}"
      output
    end
  end
end
