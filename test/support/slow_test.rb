# frozen_string_literal: true

# Slow tests run where LARDER_SLOW_TESTS is set: by bin/test FILE, bin/test --slow and bin/test --matrix. Elsewhere they
# are skipped.
module SlowTest
  # Defines a test as `test` does.
  # @param name [String]
  def slow_test(name, &block)
    return test(name, &block) if ENV["LARDER_SLOW_TESTS"]

    test(name) { skip "slow tests are run by bin/test --slow and --matrix" }
  end
end

ActiveSupport::TestCase.extend(SlowTest)
