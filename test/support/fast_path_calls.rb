# frozen_string_literal: true

# One call of each method that the fast path stands in for, and whether it does.

require "active_support/cache"
require "support/ordinary_methods"

# For test cases with a `store`.
module FastPathCalls
  # One simple call of each method that there is in C.
  CALLS = {
    fetch: ->(store) { store.fetch("a") { 1 } }, read: ->(store) { store.read("a") },
    write: ->(store) { store.write("a", 1) }, delete: ->(store) { store.delete("a") },
    exist?: ->(store) { store.exist?("a") }, read_multi: ->(store) { store.read_multi("a", "b") },
    write_multi: ->(store) { store.write_multi({ "a" => 1 }) },
    fetch_multi: ->(store) { store.fetch_multi("a", "b") { 1 } }
  }.freeze
  EVERY = CALLS.keys.freeze

  # @return [Array<Symbol>] the methods that were answered in C
  def taken(store = self.store)
    CALLS.keys.reject { |name| enters_rails?(name) { CALLS.fetch(name).call(store) } }
  end

  def enters_rails?(name)
    entered = false
    trace = TracePoint.new(:call) { entered = true }
    trace.enable(target: OrdinaryMethods[name])
    yield
    entered
  ensure
    trace.disable
  end
end
