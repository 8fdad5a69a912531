# frozen_string_literal: true

# Keeps sessions in a file of Larder's, and a copy of each in a store that outlives the file.

require "larder/bytes/monotonic_clock"
require "larder/remote/outbox"
require_relative "copies"
require_relative "one_machine"
require_relative "unbacked"

module Larder
  module Sessions
    module Backends
      # The file decides what a session is, and the store serves exactly one machine, see {OneMachine}. {#reload} reads
      # the copy after the file was lost.
      #
      # After it has written a copy, a process reads the file again, and repeats that until both are equal. So the
      # slower of two writers does not leave the older session in the store.
      #
      # A copy that the store did not take, or did not delete, is listed by the {Larder::Remote::Outbox}, and later
      # requests make it what the file has then. The outbox does that twice, some seconds apart.
      class Backed < Unbacked
        include MonotonicClock

        # Attempts to make the copy equal to the original.
        ATTEMPTS = 10
        # Seconds after which a request applies what is listed.
        RETRY = 5
        # Seconds that a request may spend on making listed copies.
        LIMIT = 0.1
        # Seconds that the note of the last copy is ahead, so that it is seldom written.
        AHEAD = 60
        # Copies that are deleted at once.
        BATCH = 100
        private_constant :ATTEMPTS, :RETRY, :LIMIT, :AHEAD, :BATCH

        # @return [String] the class of the store
        attr_reader :behind

        # @param cache [Larder::Cache]
        # @param adapter [Larder::Remote::Adapters::Any] of the store, see {StoreBuilder.adapter}
        # @param report [#call] told of the error of a store that fails; requests go on with the file alone
        # @param request [#call] returns the env of the current request, or nil
        # @param retry_every [Numeric] seconds
        # @param shared_by [String] the option for several machines, see {SecondMachineError}
        def initialize(cache, adapter, report: ->(_error) {}, request: -> {}, retry_every: RETRY, shared_by: "cache:")
          super(cache, backed: true)
          @behind = adapter.store.class.name
          @report = report
          @copies = Copies.new(adapter, report: report, request: request)
          @outbox = ::Larder::Remote::Outbox.new(@copies, Companions.journal(cache.path))
          @outbox.when_absent(&report)
          @outbox.when_applied { |kind, texts| kind == :delete ? renew(texts) : delete_marked }
          @machine = OneMachine.new(@file, @copies) { report.call(SecondMachineError.new(behind, shared_by)) }
          @retry_every = retry_every
          @retry_at = 0
        end

        # @return (see Single#remote_stats)
        def remote_stats
          { store: @behind, **@outbox.stats }
        end

        # @param (see File#read)
        # @return (see File#read)
        def read(key)
          tell if monotonic_now >= @retry_at
          super
        end

        # @param (see Single#reload)
        # @return [String, nil] nil: there is none, or it has ended
        # @raise [UnavailableError] the store does not answer
        def reload(key)
          copies([key])[key] unless @tombstones.set?(key)
        end

        # @param (see Single#copies)
        # @return (see Single#copies)
        # @raise [UnavailableError] the store does not answer
        def copies(keys)
          note_copies # the file may be a new one
          @machine.watch { |own| @copies.find([*keys, own]) }
        rescue RemoteError => error
          raise error if error.is_a?(UnavailableError)

          raise UnavailableError.new(behind, error.message)
        end

        # Applies the changes that the store has not got. What it does not take stays listed.
        # @return [void]
        def tell
          @retry_at = monotonic_now + @retry_every
          reporting { @outbox.ready? }
        end

        # Puts an entry that was reloaded into the file.
        #
        # @param (see File#add)
        # @return [Symbol] as {File#add}, or :gone where it was deleted meanwhile
        def restore(key, bytes, ttl, pin: false)
          outcome = @file.add(key, bytes, ttl, pin: pin)
          return outcome unless @tombstones.set?(key)

          @file.delete(key)
          :gone
        end

        # @return [String] where sessions are kept, for people
        def to_s
          "#{super}, backed by #{behind},"
        end

        private

        def changed(key, bytes, ttl)
          entries = [ActiveSupport::Cache::Entry.new(bytes)]
          reporting { @outbox.change(:delete, [CHANGED + key], entries) { copy(key, bytes, ttl) } }
        end

        def ended(key, left)
          !reporting { @outbox.change(:delete, [key]) { end_copy(key, left) } }.nil?
        end

        # A change that fails is listed. The copies report an outage; what is left is a refusal, or an error of the
        # journal.
        def reporting
          yield
        rescue RemoteError => error
          @report.call(UnavailableError.new(behind, error.message)) unless error.is_a?(UnavailableError)
          nil
        end

        def copy(key, bytes, ttl)
          note_copies
          ATTEMPTS.times do
            @copies.put(key, bytes, ttl)
            now = @file.read(key)
            return @copies.delete(key) if now.nil?
            return if now == bytes.b

            bytes = now
          end
        end

        # Called before the store gets a copy.
        def note_copies
          now = Time.now.to_i
          @file.set(COPIED, (now + AHEAD).to_s, nil) unless cache.get(COPIED).to_i > now + (AHEAD / 2)
        end

        # @param left [Numeric, nil] seconds that a copy has to live, nil: no process makes one
        # @return [Boolean] was there a copy?
        def end_copy(key, left)
          @copies.mark(key, Tombstones.beyond(left)) if left && session?(key)
          @copies.delete(key)
        end

        # @param texts [Array<String>] that were listed
        # @return [void]
        # @raise [RemoteError]
        def renew(texts)
          limit = monotonic_now + LIMIT
          texts.each_with_index do |text, index|
            return @outbox.note(:delete, texts.drop(index)) if monotonic_now > limit

            make_equal(text.delete_prefix(CHANGED))
          end
        end

        # The outbox has deleted the copy of what has ended. An entry may have come back under its key since. If the
        # store answers, and does not take a copy, it has none.
        def make_equal(key)
          bytes = @file.read(key)
          ttl = cache.ttl(key)
          if bytes && ttl then copy(key, bytes, (ttl unless ttl == Float::INFINITY))
          elsif (left = @tombstones.ttl(key)) then end_copy(key, left)
          end
        rescue RemoteError
          raise unless @copies.answers?

          @copies.delete(key)
        end

        # It is not known what was listed.
        def delete_marked
          @tombstones.keys.each_slice(BATCH) { |keys| @copies.delete_multi(keys) }
        end
      end
    end
  end
end
