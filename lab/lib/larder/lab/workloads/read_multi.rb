# frozen_string_literal: true

require_relative "write_then_read"

module Larder
  module Lab
    module Workloads
      # Many keys a call: Rails.cache.write_multi and read_multi. The keys of a call are made beforehand, so what is
      # measured is the store.
      class ReadMulti < WriteThenRead
        # Keys of one call.
        KEYS = 100

        WRITE = write_pass("write_multi", "write_multi of #{KEYS}")
        READ = read_pass("read_multi", "read_multi of #{KEYS}")

        named "read-multi", "#{KEYS} keys a call, one thread", "write_multi of new keys, read_multi of those."
        only_on_request

        private

        # A call is for many keys.
        def own_seconds(_pass); end

        # The values to write, a Hash for each call.
        def slices(count, _threads)
          [(0...count).each_slice(KEYS).map { |numbers| numbers.to_h { |i| [["key", i], VALUE] } }]
        end

        def reads
          @reads ||= @slices.first.map(&:keys)
        end

        def write(store, batches)
          batches.each { |batch| store.write_multi(batch, expires_in: 5.minutes) }
        end

        def read(store, batches)
          wrong = nil
          batches.each do |names|
            found = store.read_multi(*names)
            next if found.values.count(VALUE) == (keeps? ? names.size : 0)

            wrong ||= lost(names, found)
          end
          wrong
        end

        # The first key of a batch whose value is not right.
        def lost(names, found)
          key = names.find { |name| found[name] != VALUE }
          key ? [key.last, found[key]] : [names.first.last, found.size, 0]
        end
      end
    end
  end
end
