# frozen_string_literal: true

# Runs the tests that Rack, Rails and Dalli have of their own session stores, unmodified, over Larder's. They are not in
# this repository; rakelib/house/rails_tests.rb and gem_tests.rb fetch them. left_out.yml says what is not to pass.
#
# Run as a program: ruby -Ilib -Itest test/larder/sessions/peers/run.rb RAILS GEMS [OPTION OF minitest...]

RAILS, GEMS = ARGV.shift(2).map { |directory| File.expand_path(directory) }
abort "usage: run.rb DIRECTORY OF RAILS' TESTS, DIRECTORY OF GEMS' TESTS [OPTION OF minitest...]" unless GEMS

# Constants and Time are seen by all tests.
ENV["PARALLEL_WORKERS"] = "1"

# Helpers that Rails leaves out of its gem; what the gem has comes first. Then what tests of gems require beside.
$LOAD_PATH.push(File.join(RAILS, "activesupport/lib"), File.join(RAILS, "actionpack/test"))
$LOAD_PATH.unshift(File.join(__dir__, "stand_ins"))

# Rails' helper prepares browsers, for which capybara would be needed. No test here has one.
require "action_dispatch"
ActionDispatch.const_set(:SystemTestCase, Class.new { def self.driven_by(...) = nil })

require "abstract_unit"
require "larder"
require "support/left_out"
require "support/servers"
require_relative "stores"

module Peers
  LEFT_OUT = LeftOut.read(File.join(__dir__, "left_out.yml"))

  # Each test as left_out.yml has it.
  module Listed
    include LeftOut

    def before_setup
      super
      OnFile.options = reason_in("needing_marshal") ? { serializer: :marshal } : {}
      reason = reason_in("telling_nothing")
      skip(reason) if reason
    end

    private

    def left_out
      reason_in("tests")
    end

    def reason_in(list)
      LEFT_OUT.fetch(list)[Peers.name_of(self.class, name)]
    end
  end
  Minitest::Test.prepend(Listed)

  # @return [String] the class and the sentence, without minitest's number
  def self.name_of(test, method)
    "#{test}: #{method.sub(/\Atest_(?:\d{4}_)?/, "")}"
  end

  # What minitest says of tests in its older form.
  module Quiet
    def warn(message, ...)
      super unless message.start_with?("DEPRECATED: global use of")
    end
  end
  Warning.singleton_class.prepend(Quiet)

  # @return [Hash{String => String}] paths of files with tests of sessions, by their names
  FILES = { "rails/" => "#{RAILS}/actionpack/test/dispatch/", "" => "#{GEMS}/" }.flat_map do |name, directory|
    Dir["#{directory}**/*_test.rb", "#{directory}*/test/*"].map { |path| [path.sub(directory, name), path] }
  end.sort.to_h.freeze
end

memcached = TestServers.endpoint("memcached")
ENV["MEMCACHE_SERVERS"] = memcached["url"] if memcached

(Peers::FILES.keys - Peers::LEFT_OUT.fetch("files").keys).each { |name| require Peers::FILES.fetch(name) }

ActionDispatch::Request::SessionTest.const_set(:Session, Peers::RailsValues)
CookieStoreTest.prepend(Peers::LookedUp)

# That nothing is left out but what the list says, and that the list says nothing of what is not there.
class CompletenessTest < ActiveSupport::TestCase
  test "every file that is left out is one of the peers'" do
    assert_empty Peers::LEFT_OUT.fetch("files").keys - Peers::FILES.keys
  end

  test "every test that the list names is one of the peers'" do
    known = Minitest::Runnable.runnables.flat_map do |test|
      test.runnable_methods.map { |name| Peers.name_of(test, name) }
    end
    assert_empty Peers::LEFT_OUT.except("files").values.flat_map(&:keys) - known
  end

  test "the list has a reason for each" do
    Peers::LEFT_OUT.each_value { |list| list.each_value { |reason| assert_operator reason.split.size, :>, 3 } }
  end

  test "Rails' tests of sessions in memcached have one to connect to" do
    skip "memcached is not installed: Rails runs its tests of MemCacheStore only beside one" unless memcached
    assert_not_empty MemCacheStoreTest.runnable_methods
  end

  private

  def memcached
    TestServers.endpoint("memcached")
  end
end
