# frozen_string_literal: true

module Larder
  module Lab
    module Workloads
      # Rails.cache.fetch_multi: first all missing, then all there.
      class FetchMulti < Workload
        # Keys of one call.
        KEYS = 100

        named "fetch-multi", "#{KEYS} keys a call of fetch_multi, one thread",
              "fetch_multi of #{KEYS} keys, first all missing, then all there."
        only_on_request

        private

        # A call is for many keys.
        def own_seconds(_pass); end

        def slices(count, _threads)
          [(0...count).each_slice(KEYS).map { |numbers| numbers.map { |i| ["key", i] } }]
        end

        # The block runs for every key that is missing; a call counts once.
        def visit(store, batches, _pass)
          runs = 0
          wrong = nil
          batches.each do |batch|
            missed = 0
            found = store.fetch_multi(*batch, expires_in: 5.minutes) do
              missed += 1
              VALUE
            end
            runs += missed.fdiv(batch.size)
            wrong ||= lost(batch, found) unless found.values.count(VALUE) == batch.size
          end
          [runs, wrong]
        end

        # The first key of a batch whose value is not right.
        def lost(batch, found)
          key = batch.find { |name| found[name] != VALUE } || batch.first
          [key.last, found[key]]
        end
      end
    end
  end
end
