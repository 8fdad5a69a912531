# frozen_string_literal: true

require_relative "../member"

module Soak
  module Members
    # A process that comes, opens the cache a few times, and goes: a task of rake or cron.
    class Visitor < Member
      # Opens, works, closes.
      def play
        (1 + @random.rand(4)).times do
          return if over?

          cache, store = @setting.open
          visitor = worker(cache, store) || return
          visitor.inherit
          visitor.work(0.05 + (@random.rand * 0.5))
          visitor.rest
          cache.close
          store.cache.close
          visitor.leave
          @book.add(Book::REOPENED)
        end
      end
    end
  end
end
