# frozen_string_literal: true

# Changes of several threads, for one message.

module Larder
  module Remote
    class Backplane
      # While a thread waits for the server's answer, the changes of others are collected, and one of them sends all
      # (group commit: DeWitt et al., "Implementation techniques for main memory database systems", 1984).
      #
      # The thread that sends holds a lock. Ruby releases it in a child process, which does not have that thread.
      # @api private
      class Batches
        # Changes, and whether a thread has dealt with them.
        Batch = Struct.new(:changes, :settled)
        private_constant :Batch

        def initialize
          @mutex = Mutex.new
          @sending = Mutex.new
          @progress = ConditionVariable.new
          @batch = Batch.new([])
        end

        # Adds a change, and waits until a thread has sent it. That may be the calling one, which yields.
        #
        # @param change [Object]
        # @param deadline [Deadline]
        # @yieldparam changes [Array] to send, with those of other threads
        # @return [Boolean] has a thread yielded the change by then?
        # @raise [ThreadError] in the handler of a signal
        def put(change, deadline)
          batch = @mutex.synchronize { @batch.tap { |open| open.changes << change } }
          return batch.settled unless its_turn?(batch, deadline)

          yield batch.changes
          true
        ensure
          settle(batch) if @sending.owned?
        end

        # Yields while no other thread sends.
        #
        # @param deadline [Deadline] nothing happens if another thread sends until then
        # @return [void]
        def alone(deadline)
          yield if its_turn?(Batch.new([]), deadline)
        ensure
          settle(nil) if @sending.owned?
        end

        private

        # Waits until the batch is settled, or this thread may send it. Changes of then on are of the next batch.
        def its_turn?(batch, deadline)
          @mutex.synchronize do
            until batch.settled || @sending.try_lock
              return false if deadline.over?

              @progress.wait(@mutex, deadline.left)
            end
            @batch = Batch.new([]) if @batch.equal?(batch) && !batch.settled
            !batch.settled
          end
        end

        def settle(batch)
          @mutex.synchronize do
            batch.settled = true if batch
            @sending.unlock
            @progress.broadcast
          end
        end
      end
    end
  end
end
