# frozen_string_literal: true

require_relative "../support/base"

module Proof
  # Plays random calls of a Rails cache on LarderStore, on its ordinary path and the fast one, and on Rails' own stores.
  class Contract < Base
    NAME = "contract"
    TITLE = "The Rails store answers and announces as Rails' own, on both paths, but for what the guide names"
    HELP = "random calls against MemoryStore and FileStore, with subclasses and listeners that come and go"

    TEST = "test/active_support/cache/larder_store/same_as_rails_stores_test.rb"
    CALLS = { true => 5_000, false => 100_000 }.freeze

    # @param report [Proof::Report]
    # @return [void]
    def attack(report)
      env = House::Environment.variables.merge("LARDER_CONTRACT_CALLS" => CALLS.fetch(quick).to_s)
      run(report, ["bundle", "exec", "ruby", "-w", "-Ilib", "-Itest", TEST], env: env)
    end
  end
end
