# frozen_string_literal: true

# What belongs to the request under way.
class Current < ActiveSupport::CurrentAttributes
  # user: who is signed in; began: when the request did, by the monotonic clock; queries: so far; cache: "hit", "miss",
  # or nil for a page that is not cached.
  attribute :user, :began, :queries, :cache

  # @return [Float] milliseconds since the request began
  def milliseconds
    Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond) - began
  end

  # Counts one query of the database.
  # @return [void]
  def query!
    self.queries = queries.to_i + 1
  end
end
