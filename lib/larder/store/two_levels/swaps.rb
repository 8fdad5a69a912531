# frozen_string_literal: true

# Compare-and-swap with a remote store: that store's own.

module Larder
  module Store
    class TwoLevels
      # A value that may have been stored has no copy.
      # @api private
      class Swaps
        # Thrown out of the remote store's `cas`: the entry is a miss.
        MISS = :larder_cas_miss
        private_constant :MISS

        # @param levels [TwoLevels]
        def initialize(levels)
          @levels = levels
          @local = levels.local
          @failsafe = levels.failsafe
          @remote = levels.remote
          @machines = levels.machines
          @tags = levels.tags
          @copies = levels.copies
        end

        # @return [Boolean] true if the remote store has a compare-and-swap
        def swaps?
          @remote.swaps?
        end

        # As of LocalSwaps.
        def swap(call)
          answer = swapping([call.key], :cas) do |guard|
            catch(MISS) do
              @remote.cas(call.key, call.options) do |stored|
                opened = opened({ call.key => stored })
                throw MISS unless opened.key?(call.key)

                closed(stored, guard.call { yield opened[call.key] }, call)
              end
            end
          end
          answer ? true : answer
        end

        # As of LocalSwaps. The answer is the remote store's.
        def swap_many(calls)
          keys = calls.map(&:key).uniq
          swapping(keys, :cas_multi) do |guard|
            @remote.cas_multi(keys, calls.first.options) do |stored|
              opened = opened(stored)
              values = calls.select { |call| opened.key?(call.key) }.to_h { |call| [call, opened[call.key]] }
              updates = guard.call { yield values }
              updates.slice(*values.keys).to_h { |call, value| [call.key, closed(stored[call.key], value, call)] }
            end
          end
        end

        private

        # Yields a guard for the caller's block, whose errors are its own.
        def swapping(keys, method)
          inside = swapped = false
          guard = lambda do |&work|
            inside = true
            work.call.tap do
              inside = false
              swapped = true
            end
          end
          begin
            @levels.ready? ? yield(guard) : false
          rescue *Failsafe::ERRORS => e
            raise if inside

            @failsafe.failed(method, false, e)
          end
        ensure
          if swapped
            @copies.drop(keys)
            @machines.publish(:keys, keys)
          end
        end

        # @param stored [Hash{String=>Object}] as the remote store has them
        # @return [Hash{String=>Object}] values of those that no tag has deleted
        def opened(stored)
          entries = stored.transform_values { |value| ActiveSupport::Cache::Entry.new(value) }
          @tags.open(entries)
          entries.transform_values(&:value)
        end

        # @return [Object] a new value as the remote store has it, with the tags of the old one or of the call
        def closed(stored, value, call)
          return @tags.again(stored, value) unless call.options[:tags]

          @tags.marked(ActiveSupport::Cache::Entry.new(value), call, @local.stamp_of_write(call)).value
        end
      end
    end
  end
end
