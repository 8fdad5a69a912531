# frozen_string_literal: true

# Entries of many keys that are written by one call of the remote store.

require "larder/store/two_levels/remote_lease"

module Larder
  module Store
    class TwoLevels
      # As one write of {TwoLevels} after the other: first in the remote store, then in the file, then one message says
      # that other copies are old. An entry whose value was computed under a lease is stored under it.
      # @api private
      class WrittenTogether
        # @param levels [TwoLevels]
        # @param changes [TwoLevels::Changes]
        # @param entries [Hash{String=>ActiveSupport::Cache::Entry}] by key
        # @param call [Call] of all
        # @param flights [Hash{String=>Flight}] by key
        def initialize(levels, changes, entries, call, flights)
          @levels = levels
          @changes = changes
          @remote = levels.remote
          @copies = levels.copies
          @entries = entries
          @call = call
          @flights = flights
          @leased, @free = entries.keys.partition { |key| flights[key]&.leased? }
        end

        # @return [true, nil] nil: not all are stored
        # @raise [Larder::Error]
        def run
          leased = @leased.select { |key| holds?(key) }
          keys = @free + leased
          stored = keys.empty? ? [] : store(keys, leased)
          (stored.size == @entries.size) || nil
        end

        private

        # True if the lease of a value has not ended.
        def holds?(key)
          flight = @flights[key]
          return @levels.local.store(key, nil, flight, @call) unless flight.token # ends the flight

          return true unless @levels.records.lease_wait(key, flight.token, 0, Clock.now_ms)

          Flights.note_overrun(flight, @call.lease)
          Flights.current.drop(flight)
          false
        end

        # As TwoLevels#write: what another caller deletes or writes at the same time wins in the file.
        #
        # @return [Array<String>] keys that are stored
        def store(keys, leased)
          asked = keys.to_h { |key| [key, asked_for(key)] }
          @copies.leased(@free) do |leases|
            left = @free
            answers = written?(keys, asked)
            kept = @free.empty? ? [] : keep(leases, asked, answers)
            left -= kept
            stored = kept_under_leases(leased, asked, answers)
            answers ? @free.select { |key| answers[key] } + stored : kept + stored
          ensure
            leases.clear
            @copies.drop(left) if left&.any?
            @levels.machines.publish(:keys, keys)
          end
        end

        # A write begins now, its value where it began to be computed.
        def asked_for(key)
          Copies::Asked.new(Clock.now, (stamp_of(key) || now if @call.tagged?))
        end

        def stamp_of(key)
          @flights[key]&.stamp || @levels.local.stamp_of_write(@call.of(key))
        end

        # One moment for all whose values began to be computed with this call: versions of tags are read with the write.
        def now
          @now ||= @levels.local.stamp
        end

        # @return [Hash{String=>Boolean}, nil] was it stored? nil: deletes of the old values are listed
        def written?(keys, asked)
          with_now, rest = keys.partition { |key| @now && asked[key].stamp.equal?(@now) && @call.texts.names.any? }
          far = rest.to_h { |key| [key, @levels.tags.marked(@entries[key], @call, asked[key].stamp)] }
          @remote.outbox.change(:delete, keys, @entries.values_at(*keys)) do
            stored = with_now.any? && @levels.tags.write(@entries.slice(*with_now), @call, kept_in)
            write(far).update(with_now.to_h { |key| [key, stored] })
          end
        rescue RemoteError => e
          @levels.failsafe.failed(:write_multi_entries, nil, e)
        end

        # @return [Hash{String=>Boolean}]
        def write(far)
          flown, free = far.partition { |key, _| @flights[key]&.remote }.map(&:to_h)
          flown = RemoteLease.write_all(@remote, flown.transform_keys { |key| @flights[key].remote }, kept_in)
          stored = free.any? && @remote.write_multi(free, kept_in)
          flown.transform_keys(&:key).update(free.transform_values { stored })
        end

        # @return [Float, nil] for all
        def kept_in
          all = @entries.values.map { |entry| @changes.kept_in(entry, @call) }
          all.max unless all.include?(nil)
        end

        # @return [Array<String>] keys of free entries that the file has now
        def keep(leases, asked, answers)
          wanted = answers ? @free.select { |key| answers[key] } : @free
          wanted.group_by { |key| asked[key].stamp }.each_value.flat_map do |keys|
            some = leases.slice(*keys)
            @copies.keep(@entries.slice(*keys), asked[keys.first], some, @call).tap do |kept|
              kept.each { |key| leases.delete(key) }
            end
          end
        end

        # @return [Array<String>] keys of entries that are stored, and whose leases had not ended
        def kept_under_leases(keys, asked, answers)
          keys = keys.select { |key| answers[key] } if answers
          kept = keys.to_h { |key| [key, kept_under_lease(key, asked[key])] }
          undecided = keys.select { |key| kept[key] == false && !@flights[key].remote&.decides? }
          @remote.outbox.change(:delete, undecided) { @remote.delete_multi(undecided) } if undecided.any?
          keys.select { |key| kept[key].nil? ? answers : kept[key] }
        end

        def kept_under_lease(key, asked)
          @copies.keep_in_flight(key, @entries[key], asked, @call.texts, @call, @flights[key])
        end
      end
    end
  end
end
