# frozen_string_literal: true

require "test_helper"
require "json"

# A real Rails application whose tests run in parallel workers, in a Ruby of its own.
class ParallelTestsTest < ActiveSupport::TestCase
  include TemporaryDirectory

  # Every test of it writes what all others write, and says which files it used.
  APPLICATION = <<~'RUBY'
    require "rails"
    require "action_controller/railtie"
    require "larder"
    require "active_support/core_ext/numeric"
    require "active_support/core_ext/integer"

    class Tiny < Rails::Application
      config.root = Dir.pwd
      config.load_defaults Rails::VERSION::STRING.to_f
      config.eager_load = false
      config.hosts.clear
      config.logger = ActiveSupport::Logger.new(File::NULL)
      config.secret_key_base = "0" * 64
      config.cache_store = :larder_store, *(ENV["NAMED"] && "tmp/named.larder"), { size: 2.megabytes }
      config.session_store :larder_store, file: (ENV["NAMED"] && "tmp/sessions.larder"), size: "2MB"
      routes.append { get "/visit", to: ->(env) { env["rack.session"]["n"] = 1; [200, {}, ["here"]] } }
    end
    Tiny.initialize!
    OTHER = ActiveSupport::Cache::LarderStore.new("tmp/other.larder", size: 2.megabytes)
    [Rails.cache, OTHER].each { |cache| cache.write("key", "the parent's") }

    require "rails/test_help"
    require "timeout"
    class TinyTest < ActionDispatch::IntegrationTest
      parallelize(workers: 3, with: ENV.fetch("WITH").to_sym, threshold: 1)
      parallelize_setup { |worker| Rails.cache.write("seen by the setup of the application", worker) }

      if ENV["WITH"] == "processes"
        30.times do |i|
          test "the same keys #{i}" do
            File.write("tmp/in.#{Process.pid}", "") # until each worker is in a test, none ends one
            Timeout.timeout(60) { sleep(0.01) until Dir["tmp/in.*"].size == 3 }
            caches = [Rails.cache, OTHER, ActiveSupport::Cache::LarderStore.new].uniq { |cache| cache.cache.path }
            caches.each { |cache| cache.write("key", i) }
            caches.each { |cache| 200.times { cache.increment("n#{i}") } }
            get "/visit"
            assert_equal [i], caches.map { |cache| cache.read("key") }.uniq
            assert Rails.cache.exist?("seen by the setup of the application")
            caches.each { |cache| assert_equal 200, cache.read_counter("n#{i}") }
            File.write("tmp/visit.#{Process.pid}.#{i}", "")
            assert_equal Dir["tmp/visit.#{Process.pid}.*"].size, Larder::Sessions.stats[:sessions]
            report(caches)
          end
        end
      else
        6.times { |i| test("threads #{i}") { report([Rails.cache, OTHER]) } }
      end

      def report(caches)
        sessions = ObjectSpace.each_object(Larder::Sessions::Middleware).map { |one| one.repository.backend.to_s }
        File.write("tmp/report.#{Process.pid}.#{name}.json",
                   JSON.generate(caches: caches.map { |cache| cache.cache.path }, sessions: sessions))
      end
    end

    Minitest.after_run do
      puts JSON.generate([Rails.cache, OTHER].map { |cache| [cache.cache.path, cache.read("key")] })
    end
  RUBY

  setup { %w[tmp storage].each { |name| Dir.mkdir(path_of(name)) } }

  test "workers that are processes have files of their own, of stores and sessions, and take them away" do
    outcome = run_application("WITH" => "processes")
    own = path_of("storage/larder/test/cache.larder")
    assert_equal [[own, "the parent's"], [path_of("tmp/other.larder"), "the parent's"]], outcome
    assert_equal [own, path_of("tmp/other.larder")].product(workers).map(&:join).sort, used("caches")
    assert_equal workers.map { |worker| path_of("storage/larder/test/sessions.larder#{worker}") }, used("sessions")
    assert_empty left_overs
  end

  test "a path that the configuration names is one of each worker too" do
    outcome = run_application("WITH" => "processes", "NAMED" => "yes")
    assert_equal [path_of("tmp/named.larder"), "the parent's"], outcome.first
    expected = [path_of("tmp/named.larder"), path_of("tmp/other.larder"), path_of("storage/larder/test/cache.larder")]
    assert_equal expected.product(workers).map(&:join).sort, used("caches")
    assert_equal workers.map { |worker| path_of("tmp/sessions.larder#{worker}") }, used("sessions")
    assert_empty left_overs
  end

  test "a worker begins with empty files, whatever one has left that was killed" do
    FileUtils.mkdir_p(path_of("storage/larder/test"))
    workers.each do |worker|
      path = path_of("storage/larder/test/cache.larder#{worker}")
      Larder::Cache.open(path, size: 1 << 20) { |cache| 30.times { |i| cache.set("n#{i}", "no number") } }
    end
    assert_equal "the parent's", run_application("WITH" => "processes").first.last
    assert_empty left_overs
  end

  test "workers that are threads share the files of their process" do
    run_application("WITH" => "threads")
    assert_equal [path_of("storage/larder/test/cache.larder"), path_of("tmp/other.larder")].sort, used("caches")
  end

  private

  # @return [Object] what the parent found at the end
  def run_application(variables)
    File.write(path_of("tiny_test.rb"), APPLICATION)
    output, status = Open3.capture2e({ "RAILS_ENV" => "test", **variables }, RbConfig.ruby,
                                     "-I#{File.expand_path("../../lib", __dir__)}", "tiny_test.rb", chdir: directory)
    assert_predicate status, :success?, output
    assert_match(/ 0 failures, 0 errors/, output)
    JSON.parse(output.lines.grep(/\A\[/).last)
  end

  def workers
    [".worker-0", ".worker-1", ".worker-2"]
  end

  def used(kind)
    Dir[path_of("tmp/report.*.json")].flat_map { |file| JSON.parse(File.read(file))[kind] }.uniq.sort
  end

  def left_overs
    Dir[path_of("**/*.worker-*")]
  end
end
