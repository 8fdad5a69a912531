# frozen_string_literal: true

# Runs Rails' own tests of cache stores, unmodified, over LarderStore: on the ordinary path and with the fast path. They
# are not in this repository; rakelib/house/rails_tests.rb fetches them. left_out.yml says what is not to pass.
#
# Run as a program: ruby -Ilib test/rails/suites/run.rb DIRECTORY [OPTION OF minitest...]
# LARDER_UNTESTED_RAILS=1 has the fast path taken on a Rails that it would leave alone.

require_relative "larder_case"

LEFT_OUT = LeftOut.read(File.join(__dir__, "left_out.yml"))

class LarderCase
  private

  def left_out
    LEFT_OUT.fetch("tests")[name]
  end
end

# Each of Rails' tests begins with the fast path on. Those that stub the store or listen turn it off for what they stub.
class FastPathTest < LarderCase
  include EveryStore

  setup { assert_equal({ on: true, reasons: [] }, Larder::Store::FastPath.report(@cache)) }
end

# The same without C.
class OrdinaryPathTest < LarderCase
  include EveryStore

  setup { assert_equal false, Larder::Store::FastPath.report(@cache).fetch(:on) }

  def run
    Larder::Store::FastPath.without { super }
  end
end

# A store that cannot serve.
class UnavailableTest < LarderCase
  include FailureSafetyBehavior

  private

  def emulating_unavailability
    yield unavailable_store
  end
end

# The same with an error handler that raises the error. Rails' tests ask for one of Redis, in place of Larder's.
class UnavailableRaisingTest < LarderCase
  include FailureRaisingBehavior

  def run
    stub_const(Redis, :BaseError, Larder::Error) { super }
  end

  private

  def emulating_unavailability
    yield unavailable_store(error_handler: ->(exception:, **) { raise exception })
  end
end

# That nothing is left out but what the list says, and that the list says nothing of what is not there.
class CompletenessTest < ActiveSupport::TestCase
  CASES = [FastPathTest, OrdinaryPathTest, UnavailableTest, UnavailableRaisingTest].freeze

  test "every module of Rails' is run or left out with a reason" do
    given = Dir[File.join(SUITES, "activesupport/test/cache/behaviors/*.rb")].map do |path|
      File.basename(path, ".rb").camelize
    end
    run = given.select { |name| CASES.any? { |test| test < Object.const_get(name) } }
    assert_equal given.sort, (run + LEFT_OUT.fetch("modules").keys).sort
  end

  test "every test that is left out is one of Rails'" do
    known = CASES.flat_map(&:runnable_methods)
    assert_empty LEFT_OUT.fetch("tests").keys - known
  end

  test "the list has a reason for each" do
    LEFT_OUT.each_value { |list| list.each_value { |reason| assert_operator reason.split.size, :>, 3 } }
  end
end
