# frozen_string_literal: true

require_relative "../member"

module Soak
  module Members
    # A server as Puma's cluster is: a parent that opens the cache before it forks, and workers with threads. Workers
    # end by themselves now and then, and are replaced whenever they end.
    class Cluster < Member
      THREADS = 2

      # @param workers [Integer]
      def initialize(setting, seed, workers)
        super(setting, seed)
        @workers = workers
      end

      # Keeps its workers, and reads now and then itself.
      def play
        @cache, @store = @setting.open
        parent = worker(@cache, @store) || return
        parent.inherit
        until over?
          reap
          start_worker while @children.size < @workers && !@book.resting?
          parent.batch
          parent.rest
          sleep(0.05)
        end
        end_children
        parent.leave
        @cache.close
      end

      private

      def start_worker
        fork_child { work }
      end

      def work
        @cache, @store = @setting.open if @random.rand(2).zero? # others go on with what they inherited
        ends = now + 1 + (@random.rand * 20)
        in_threads(THREADS, @cache, @store) do
          sleep(0.05) until over? || now > ends
        end
        @cache.close if @random.rand(2).zero?
      end
    end
  end
end
