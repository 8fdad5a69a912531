# frozen_string_literal: true

# Reads of two levels.

require "concurrent/atomic/event"
require "larder/store/refreshes"

module Larder
  module Store
    class TwoLevels
      # A copy in the file is the answer while it is fresh and trusted. Otherwise the remote store is asked, and if that
      # does not answer, the copy is used for what it may be.
      # @api private
      class Reads
        # @param levels [TwoLevels]
        def initialize(levels)
          @local = levels.local
          @failsafe = levels.failsafe
          @remote = levels.remote
          @machines = levels.machines
          @copies = levels.copies
          @back_offs = levels.back_offs
        end

        # As of LocalLevel. A copy of another version is not an answer.
        def read(call)
          return remote_entry(call) if call.options[:raw]

          found = @local.entry(call.key)
          copy = answer_of(found) if found && fresh?(found, call)
          return copy if copy && @machines.trusted?

          @local.not_used(call.key) if found
          without = -> { copy && @local.used(call.key, copy) }
          entry = @failsafe.ask(:read_entry, without) { @copies.fill_one(call.key, call) }
          # Rails' fetch stores an entry again that has expired a short while ago.
          entry unless entry&.expired? && !call.options[:race_condition_ttl]
        end

        # As of LocalLevel. A raw entry has no copy, and its bytes do not say when it expires. A copy of another version
        # is not an answer.
        def kept(call)
          return remote_entry(call) if call.options[:raw]

          copy = @local.kept(call)
          return answer_of(copy) if fresh?(copy, call) && @machines.trusted?

          @local.not_used(call.key, copy) if copy
          softly(copy, call) do
            without = -> { kept_without_remote([call])[call.key] }
            @failsafe.ask(:read_entry, without) { @copies.fill_one(call.key, call) }
          end
        end

        # As of LocalLevel, in the order of the calls. A String is the value of an entry without a version.
        def read_many(calls)
          return remote_many(calls) if calls.first.options[:raw]

          found = @local.read_many(calls)
          trusted = @machines.trusted?
          copies = found.select { |call, entry| fresh?(entry, call) && answer_of(entry) }
          (trusted ? found.keys - copies.keys : found.keys).each { |call| @local.not_used(call.key) }
          return copies.merge(remote_many(calls - copies.keys)).slice(*calls) if trusted

          remote_many(calls) { copies.each { |call, copy| @local.used(call.key, copy) } }
        end

        # Entries of the remote store that the file does not have.
        #
        # @param calls [Array<Call>]
        # @yield if that store does not answer
        # @return [Hash{Call=>ActiveSupport::Cache::Entry, String}]
        def remote_many(calls)
          return {} if calls.empty?

          entries = remote_entries(calls) { return block_given? ? yield : {} }
          calls.each_with_object({}) do |call, found|
            entry = entries[call.key]
            found[call] = entry if entry.instance_of?(String) || (entry && fresh?(entry, call))
          end
        end

        # As of LocalLevel.
        def kept_many(calls)
          return remote_many(calls) if calls.first&.options&.fetch(:raw, nil)

          found = @local.kept_many(calls)
          asked = calls
          asked = calls.reject { |call| fresh?(found[call], call) && answer_of(found[call]) } if @machines.trusted?
          return found if asked.empty?

          asked.each { |call| @local.not_used(call.key, found[call]) if found[call] }
          entries = fill_many(asked) { kept_without_remote(asked) }
          asked.each do |call|
            entry = entries[call.key]
            entry ? found[call] = entry : found.delete(call)
          end
          found.slice(*calls)
        end

        private

        def remote_entry(call)
          @failsafe.ask(:read_entry) do
            @machines.listen
            @remote.read(call.key, raw: call.options[:raw])
          end
        end

        # Yields if the remote store does not answer.
        def fill_many(calls, &otherwise)
          keys = calls.map(&:key).uniq
          @failsafe.ask(:read_multi_entries, otherwise) { @copies.fill(keys, calls.first) } || {}
        end

        # An entry that is raw has no copy.
        def remote_entries(calls, &otherwise)
          return fill_many(calls, &otherwise) unless calls.first.options[:raw]

          @failsafe.ask(:read_multi_entries, otherwise) do
            @machines.listen
            @remote.entries_of(@remote.read_multi(calls.map(&:key).uniq, raw: true), raw: true)
          end || {}
        end

        def fresh?(entry, call)
          !entry.nil? && !entry.expired? && !entry.mismatched?(call.version)
        end

        # A copy that was fresh when it was found is the answer, also if its time ends while the call goes on: the entry
        # of the remote store lives longer.
        #
        # @return [ActiveSupport::Cache::Entry] the same
        def answer_of(copy)
          copy.expires_at = nil
          copy
        end

        # Copies that may be the answer while the remote store does not answer.
        #
        # @return [Hash{String=>ActiveSupport::Cache::Entry}]
        def kept_without_remote(calls)
          copies = calls.to_h { |call| [call.key, @local.kept_copy(call.key)] }.compact
          calls.each { |call| used_when_stale(call, copies[call.key]) }
          @back_offs.apply(copies, calls.first, ask: false)
        end

        def used_when_stale(call, copy)
          @local.used(call.key, copy) if call.usable(copy, :stale_while_revalidate)
        end

        # Yields to ask the remote store.
        #
        # @param copy [ActiveSupport::Cache::Entry, nil] of this machine
        # @return [ActiveSupport::Cache::Entry, nil] the copy, if that takes long and the copy may be served
        def softly(copy, call, &ask)
          return yield unless copy && call.options[:soft_timeout] && call.options[:stale_if_error] &&
                              Call.within?(copy, call.options[:stale_if_error])

          done, answer = Concurrent::Event.new, nil
          begun = Refreshes.now do |runs|
            answer = outcome_of(&ask) if runs
          ensure
            done.set
          end
          return yield unless begun
          return @local.used(call.key, copy) unless done.wait(call.options[:soft_timeout].to_f)

          answer ? answer.call : yield
        end

        # @return [Proc] answers what the block has, or raises its error
        def outcome_of
          found = yield
          -> { found }
        rescue Exception => e # rubocop:disable Lint/RescueException -- the caller raises it, as without the option
          -> { raise e }
        end
      end
    end
  end
end
