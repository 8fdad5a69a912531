# frozen_string_literal: true

require "test_helper"
require "support/generated_application"
require "support/guide_files"
require "support/optional_gem"

module House
  # The guide to testing: its files are put into an application as `rails new` generates it, whose tests are run.
  class TestingGuideTest < ActiveSupport::TestCase
    include TemporaryDirectory
    include GeneratedApplication
    include GuideFiles

    GUIDE = "docs/guides/testing.md"
    FILES = GuideFiles.of(GUIDE)
    CONTROLLER = <<~RUBY
      class PricesController < ActionController::Base
        def index; end
      end
    RUBY
    VIEW = %(<% cache "prices" do %><%= Price.of(1, 2).values.join(", ") %><% end %>\n)
    SPEC_HELPER = <<~RUBY
      ENV["RAILS_ENV"] ||= "test"
      require_relative "../config/environment"
      require_relative "cache_helper"
    RUBY
    # The message in the guide is of this test.
    FAILING = <<~RUBY
      require "test_helper"
      class FailingTest < ActiveSupport::TestCase
        test "fails" do
          Price.of(1, 2)
          assert_no_cache_misses { Price.of(1, 2, 3) }
        end
      end
    RUBY

    setup do
      generate("config/routes.rb" => [/routes.draw do$/, "\\0\n  get \"prices\" => \"prices#index\""])
      change("config/environments/test.rb", /^ +config\.(?:cache_store|action_controller\.perform_caching) = .*\n/, "")
      place_files(FILES)
      write("app/controllers/prices_controller.rb", CONTROLLER)
      write("app/views/prices/index.html.erb", VIEW)
    end

    test "the guide has files of every kind" do
      assert_equal %w[app/models/price.rb config/environments/test.rb spec/cache_helper.rb spec/models/price_spec.rb
                      test/integration/prices_test.rb test/models/price_test.rb test/test_helper.rb], FILES.keys.sort
    end

    test "the tests pass, in one process and in parallel, and leave no file" do
      before = Dir["/dev/shm/larder-tests-*"]
      assert_match(/^4 runs, \d+ assertions, 0 failures, 0 errors, 0 skips$/, tests(workers: 1))
      change("test/test_helper.rb", "workers: :number_of_processors", "workers: 3, threshold: 1")
      assert_match(/^4 runs, \d+ assertions, 0 failures, 0 errors, 0 skips$/, tests)
      assert_empty Dir["/dev/shm/larder-tests-*"] - before
      assert_empty Dir[place("storage/**/*.larder*")]
    end

    test "a failure says what the guide shows" do
      write("test/failing_test.rb", FAILING)
      shown = GuideFiles.text(GUIDE)[/^```text\n(.*?)^```/m, 1]
      assert_includes tests(workers: 1, failing: true), shown.chomp
    end

    test "with the store that Rails configures, the assertions name the remedy, and other tests pass" do
      change("config/environments/test.rb", "config.cache_store = :larder_store", "config.cache_store = :null_store")
      write("test/plain_test.rb", %(require "test_helper"\nclass PlainTest < ActiveSupport::TestCase\n  ) +
                                  %(test("plain") { assert_nil Rails.cache.read("a") }\nend\n))
      text = tests(workers: 1, failing: true)
      assert_match(/^5 runs, \d+ assertions, 0 failures, 4 errors, 0 skips$/, text)
      assert_includes text, "Rails.cache is ActiveSupport::Cache::NullStore, and Larder::TestHelper is for a Larder " \
                            "store: set config.cache_store = :larder_store in config/environments/test.rb"
    end

    test "without caching of fragments, the message says how to turn it on" do
      change("config/environments/test.rb", "perform_caching = true", "perform_caching = false")
      write("app/views/prices/index.html.erb", %(<% cache "prices" do %>100, 200<% end %>\n))
      assert_includes tests(workers: 1, failing: true),
                      "nothing was read from the cache; for fragments of views set " \
                      "config.action_controller.perform_caching = true in config/environments/test.rb"
    end

    test "the specs pass with RSpec" do
      missing = OptionalGem.missing("rspec/core")
      skip(missing) if missing
      write("spec/rails_helper.rb", SPEC_HELPER)
      output, status = run_in(RbConfig.ruby, Gem.bin_path("rspec-core", "rspec"), "--require", "./spec/rails_helper",
                              "spec")
      assert_predicate status, :success?, output
      assert_match(/^1 example, 0 failures$/, output)
    end

    private

    # @return [String] what the run of all tests writes
    def tests(workers: nil, failing: false)
      output, status = run_in("bin/rails", "test", PARALLEL_WORKERS: workers&.to_s)
      assert_equal !failing, status.success?, output
      output
    end
  end
end
