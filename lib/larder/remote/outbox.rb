# frozen_string_literal: true

# The changes that the remote store has not got.

require "forwardable"
require "larder/bytes/monotonic_clock"
require "larder/bytes/outside"
require "larder/remote/outbox/journal"

module Larder
  module Remote
    # A change that could not be applied is listed in a {Journal}. Until all listed changes are applied, the remote
    # store is not asked for anything: it may have what this machine has deleted. If it is several servers, of which
    # others may answer, it is asked for keys that are not listed.
    #
    # A write that was given up, because it took too long or was interrupted, may arrive later than a change of the
    # same key that was applied. So listed changes are applied twice, some seconds apart. A key is not read until
    # then. If the journal overflows, it is unknown what to delete. Then the remote store is cleared.
    # @api private
    class Outbox
      extend Forwardable
      include MonotonicClock

      # Seconds between two attempts to apply what is listed, after a failure and otherwise.
      RETRY = 1
      PAUSE = 0.1
      # Seconds after which a client may have given up an attempt, and made the one that was answered.
      SLOW = 0.3
      # The store was asked for what it cannot do, as to add to a text.
      MISTAKES = [::ArgumentError, ::TypeError, ::NoMethodError, ::RangeError, ::EncodingError].freeze
      private_constant :RETRY, :PAUSE, :SLOW, :MISTAKES

      # @return [Journal]
      attr_reader :journal

      # As of Journal.
      def_delegators :@journal, :note, :machine, :known_machine, :turn?, :unlisted, :empty?, :stats, :when_absent

      # Reads of the client wait for it from then on.
      #
      # @param client [Client] to which changes are applied
      # @param path [String] of the journal, which the first use makes
      # @param backplane [String] its servers, see Backplane::Address#place
      def initialize(client, path, backplane: "")
        @client = client
        @journal = Journal.new(path, remote: Configuration.number(client.identity),
                                     prefix: -> { client.own_key("") }, backplane: Configuration.number(backplane))
        @retry_at = 0
        @applied = []
        client.use(self)
      end

      # @yieldparam kind [Symbol] of listed changes that were applied, as of Journal#note
      # @yieldparam texts [Array<String>] the same. If the block raises a RemoteError, the changes stay listed
      # @return [void]
      def when_applied(&block)
        @applied += [block]
      end

      # Applies the listed changes, if that is due.
      #
      # @return [Boolean] true if the remote store may be asked
      # @raise [RemoteError] what is listed could not be applied, or the journal not opened
      def ready?
        @journal.quiet? || @journal.reading { caught_up? || in_part? }
      end

      # @param keys [Array<String>]
      # @return [Array<String>] those of the keys that the remote store may be asked for
      # @raise [Waiting] it is not known which these are
      # @raise (see #ready?)
      def to_ask(keys)
        return keys if @journal.quiet?

        @journal.reading do
          (caught_up? ? @journal.of_keys? : in_part?) || raise(Waiting)
          @journal.unlisted(keys)
        end
      end

      # Yields to apply a change, or lists it. What another thread's exception interrupts is listed, too.
      #
      # @param kind [Symbol] as of Journal#note
      # @param texts [Array<String>]
      # @param entries [Array<ActiveSupport::Cache::Entry>] that are written: if one cannot be, nothing is listed
      # @return [Object, nil] what the block returned; nil: the change is listed
      # @raise [RemoteError] the same, and the store did not answer
      def change(kind, texts, entries = [])
        settled = false
        asked = (quiet = @journal.quiet?) || (ready? && ((quiet = @journal.quiet?) || clear_of?(kind, texts)))
        since = Process.clock_gettime(Process::CLOCK_MONOTONIC) # as in Journal: each delete and write comes here
        answer = yield if asked
        settled = asked
        @journal.changed(kind, texts) if settled && !quiet
        slow = Process.clock_gettime(Process::CLOCK_MONOTONIC) - since > SLOW
        @journal.expect(texts) if settled && slow && entries.any?
        answer
      rescue StandardError, ScriptError => e
        settled = mistaken?(kind, entries) unless e.is_a?(RemoteError)
        raise
      ensure
        @journal.note(kind, texts) unless settled
      end

      # Yields to change keys that keep their values if that fails. If the change is given up, or was slow, it is
      # expected to arrive later.
      #
      # @param keys [Array<String>]
      # @param sent [Boolean] is a change sent in any case?
      # @yieldparam send [Proc] to call when a change of the keys is about to be sent; answers its argument
      # @return [Object] what the block returned
      # @raise [RemoteError]
      def expecting(keys, sent: true)
        answered = false
        since = monotonic_now
        yield(lambda { |value = nil|
          sent = true
          value
        }).tap { answered = true }
      rescue Waiting, Refused
        answered = true
        raise
      rescue *MISTAKES => e
        answered = !Outside.raised?(e)
        raise
      ensure
        # The client may have repeated a call that was slow, whose first attempt may still arrive.
        @journal.expect(keys) if sent && (!answered || monotonic_now - since > SLOW)
      end

      # The remote store is not called for a pause: changes are listed, and other machines get their messages later.
      # @return [void]
      def give_up
        @client.pause
        @journal.unsent!
      end

      private

      # Is it several servers, and is it known which keys to wait for?
      def in_part?
        @journal.of_keys? && @client.several?
      end

      # Was the store asked for what it cannot do, rather than interrupted?
      def mistaken?(kind, entries)
        entries.each { |entry| @client.check(entry) }
        kind != :delete
      rescue StandardError
        true
      end

      # True if the remote store has got all changes before this one.
      def clear_of?(kind, texts)
        @journal.reading { @journal.empty? || (kind == :delete && @journal.applied?(texts)) }
      end

      # Applies the changes that are due. True if the remote store has got all changes then.
      def caught_up?
        return true if @journal.quiet?

        catch_up_if_due if @journal.due?
        @journal.empty?
      end

      # If one of several servers does not answer, others may be asked.
      def catch_up_if_due
        return if monotonic_now < @retry_at

        @retry_at = monotonic_now + RETRY
        catch_up
      rescue RemoteError
        in_part? || raise
      end

      # Applies the changes of the journal that are due. Refusals of the store are reported each time.
      def catch_up
        recover if @journal.overflown?
        return if @journal.overflown? # another caller clears the store

        @journal.each do |kind, texts|
          kind == :delete ? @client.delete_multi(texts) : texts.each { |text| apply(kind, text) }
          @applied.each { |block| block.call(kind, texts) }
        end
        @retry_at = monotonic_now + PAUSE
      end

      def recover
        @journal.recover do |prefixes|
          prefixes.each { |prefix| @client.clear(prefix) }
          @journal.repeat(:clear, prefixes)
          @applied.each { |block| block.call(:clear, prefixes) }
        end
      end

      # The list of another remote store, which was copied, may have patterns that this one does not take.
      def apply(kind, text)
        return @client.clear("") if kind == :delete_matched && !@client.matches?(text)

        @client.public_send(kind, text)
      end
    end
  end
end
