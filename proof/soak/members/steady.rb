# frozen_string_literal: true

require_relative "../member"

module Soak
  module Members
    # A process with threads that nobody kills. It closes and opens the cache again and again, and compacts its heap:
    # what leaks, leaks here.
    class Steady < Member
      THREADS = 2

      # Rounds of some seconds.
      def play
        until over?
          cache, store = @setting.open
          ends = now + 2 + (@random.rand * 4)
          in_threads(THREADS, cache, store, steady: true) do
            sleep(0.05) until over? || (now > ends && !@book.resting?)
          end
          [cache, store.cache].each(&:close)
          @book.add(Book::REOPENED)
        end
      end
    end
  end
end
