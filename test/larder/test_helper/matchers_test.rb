# frozen_string_literal: true

require "test_helper"
require "json"
require "support/optional_gem"

# The matchers, in RSpec, in a Ruby of its own. test/house/testing_guide_test.rb has them in an application.
class TestHelperMatchersTest < ActiveSupport::TestCase
  include TemporaryDirectory

  HEAD = <<~RUBY
    require "larder/test_helper"
    STORE = ActiveSupport::Cache::LarderStore.new("spec.larder", size: 8 << 20)
    module Rails
      def self.cache = STORE
    end
    RSpec.configure do |config|
      config.include Larder::TestHelper
      config.before { Rails.cache.write("configured", 1) }
    end
  RUBY
  PASSING = <<~RUBY
    RSpec.describe "the cache" do
      it "has what hooks have stored, and nothing of other examples" do
        expect("configured").to be_cached
        expect("other").not_to be_cached
        Rails.cache.write("other", 1)
      end

      it "is in memory, without what another example has stored" do
        expect("other").not_to be_cached
        expect(File).not_to exist("spec.larder")
        Rails.cache.write("other", 1)
      end

      it "counts misses and hits" do
        expect { Rails.cache.read_multi("a", "b", "configured") }.to miss_cache(2).and hit_cache(1)
        expect { Rails.cache.read("a") }.to miss_cache
        expect { Rails.cache.read("configured") }.not_to miss_cache
        expect { Rails.cache.read("a") }.not_to hit_cache
        expect { Rails.cache.read_multi("a", "b") }.to miss_cache(1..2)
        expect { Rails.cache.read_multi("a", "b") }.to miss_cache(1, key: /a/)
        expect { Rails.cache.read_multi("a", "b") }.to miss_cache(1, key: ->(key) { key == "b" })
      end

      it "has the methods of Minitest, too" do
        assert_cached "configured"
        expect(assert_cache_misses(1) { Rails.cache.fetch("a") { 7 } }).to eq 7
        with_empty_cache { refute_cached "configured" }
      end

      it "describes" do
        expect(miss_cache(2).description).to eq "have 2 misses of the cache"
        expect(be_cached.description).to eq "be cached"
      end
    end
  RUBY
  FAILING = <<~RUBY
    RSpec.describe "failures" do
      it { expect("a").to be_cached }
      it { expect("configured").not_to be_cached }
      it { expect { Rails.cache.read("a") }.to miss_cache(2) }
      it { expect { Rails.cache.read("a") }.not_to miss_cache }
      it { expect { Rails.cache.read("a") }.not_to miss_cache(1) }
      it { expect { 1 }.to hit_cache(1, cache: ActiveSupport::Cache::MemoryStore.new) }
      it { expect { 1 }.to miss_cache(-1) }
      it { assert_cached "a" }
      it { expect(1).to miss_cache }
      it { expect { Rails.cache.read("a") }.to miss_cache(key: "b") }
      it { expect { Rails.cache.read("a") }.to miss_cache(key: start_with("a")) }
    end
  RUBY
  MESSAGES = [
    %("a" is not cached; these are:\n  "configured"), '"configured" is cached',
    %(expected 2 misses, got 1 miss:\n  "a" by read, one_spec.rb:5),
    %(expected no misses, got 1 miss:\n  "a" by read, one_spec.rb:6),
    %(expected a number of misses other than 1, got 1 miss:\n  "a" by read, one_spec.rb:7),
    /\Acache: is ActiveSupport::Cache::MemoryStore, and Larder::TestHelper is for a Larder store/,
    /\Aa number of cache reads is 0 or more, .* got -1\z/, %("a" is not cached; these are:\n  "configured"),
    "expected a block, as expect { … }; got 1",
    %(expected at least 1 miss, got no misses\nnot counted because of key: "b": 1 miss:\n  "a" by read, one_spec.rb:12),
    /\Akey: is #<RSpec::Matchers::BuiltIn::StartWith.*, and it has no name; it takes a name/
  ].freeze

  setup do
    missing = OptionalGem.missing("rspec/core")
    skip(missing) if missing
    File.write(path_of("head.rb"), HEAD)
  end

  test "matchers match" do
    examples = run_specs(PASSING)
    assert_equal 5, examples.size
    assert_empty examples.filter_map { |one| one["exception"] }
    assert_empty Dir[path_of("*.larder")]
  end

  test "failures have the messages of the assertions" do
    messages = run_specs(FAILING).map { |one| one.dig("exception", "message") }
    assert_equal MESSAGES.size, messages.size
    MESSAGES.zip(messages) { |expected, message| assert_operator expected, :===, message }
  end

  private

  # @return [Array<Hash>] examples as RSpec's JSON has them
  def run_specs(text)
    File.write(path_of("one_spec.rb"), "# frozen_string_literal: true\n#{text}")
    output, = Open3.capture2e(RbConfig.ruby, "-I#{File.expand_path("../../../lib", __dir__)}",
                              Gem.bin_path("rspec-core", "rspec"), "--format", "json", "--out", "out.json",
                              "--require", "./head", "one_spec.rb", chdir: directory)
    assert File.exist?(path_of("out.json")), output
    JSON.parse(File.read(path_of("out.json"))).fetch("examples").tap { |examples| assert_not_empty examples, output }
  end
end
