# frozen_string_literal: true

# The lists in the journal's file, one for each remote store.

require "larder/bytes/monotonic_clock"
require "larder/remote/outbox/state"

module Larder
  module Remote
    class Outbox
      # An entry is a kind, the id of the remote store and a text. Its value is a {State}, or empty when it is taken
      # off. Marks are records of the remote store with a fresh state, or State::NONE, so that a value never gets
      # longer. All are pinned. Every method raises Larder::Error if the file cannot be used, FullError if it has no
      # room.
      # @api private
      class Lists
        include MonotonicClock

        # Prefixes of entries, by the kind of the change. The id of the remote store follows, in 8 bytes.
        KINDS = { delete: "d/", clear: "c/", delete_matched: "m/" }.freeze
        # A state that is due when the first of the entries is. Without this mark the list is not in use yet, or the
        # file was emptied.
        PENDING = "pending/"
        # Changes of more than keys are listed; changes could not be listed.
        WIDE = "wide/"
        OVERFLOWN = "overflown/"
        # Seconds to live of an entry that is taken off: it can be swapped, but not deleted, by its bytes.
        GONE = 0.001
        # Entries that are applied at once.
        BATCH = 100
        # Bytes of the id of the remote store.
        ID_BYTES = 8
        # Bytes of the longest key that an entry can list.
        MAX_KEY = Larder::Cache::MAX_KEY - KINDS.fetch(:delete).bytesize - ID_BYTES
        private_constant :KINDS, :PENDING, :WIDE, :OVERFLOWN, :GONE, :BATCH, :ID_BYTES

        # @param remote [Integer]
        # @return [String] under which {#pending} is
        def self.pending_mark(remote)
          PENDING.b << [remote].pack("Q<")
        end

        # @param cache [Larder::Cache]
        def initialize(cache)
          @cache = cache
        end

        # @param remote [Integer]
        # @return [String, nil] a {State} that is due when the first of the entries is; nil: the list is not in use
        def pending(remote)
          @cache.get(of(PENDING, remote))
        end

        # @param remote [Integer]
        # @return [Boolean] are only keys listed?
        def keys_only?(remote)
          clear?(of(WIDE, remote))
        end

        # @param remote [Integer]
        # @return [String, nil] a mark of changes that could not be listed
        def overflown(remote)
          value = @cache.get(of(OVERFLOWN, remote))
          value unless value == State::NONE
        end

        # @param remote [Integer]
        # @param keys [Array<String>]
        # @return [Array<String>] those that may be read: the remote store has got their changes, and does not get
        #   them once more
        def unlisted(remote, keys)
          keys.reject do |key|
            state = @cache.get(entry(:delete, remote, key))
            State.fresh?(state) || State.repeated?(state)
          end
        end

        # @param remote [Integer]
        # @param keys [Array<String>]
        # @return [Boolean] has the remote store got all changes of them?
        def applied?(remote, keys)
          keys.none? { |key| State.fresh?(@cache.get(entry(:delete, remote, key))) }
        end

        # @param remote [Integer]
        # @param at_most [Integer, Float] counting ends there
        # @return [Integer] how many changes the remote store has not got
        def size(remote, at_most: Float::INFINITY)
          each_batch(remote).inject(0) do |count, (_, entries, _)|
            return at_most if count >= at_most

            count + fresh(entries).size
          end.clamp(0, at_most)
        end

        # The list is to be visited. If it is not in use yet, {#use} finds what is listed.
        #
        # @param remote [Integer]
        # @return [void]
        def touch(remote)
          @cache.replace(of(PENDING, remote), State.fresh, pin: true)
        end

        # {PENDING} comes first, as the call may be interrupted, and last, as a process that applies the list must not
        # take off the mark of changes that it has not seen.
        #
        # @param remote [Integer]
        # @param kind [Symbol]
        # @param texts [Array<String>]
        # @return [void]
        def add(remote, kind, texts)
          touch(remote)
          put(remote, kind, texts, State.fresh)
          touch(remote)
        end

        # Changes that were applied are to be applied once more.
        #
        # @param (see #add)
        # @return [void]
        def repeat(remote, kind, texts)
          state = State.repeated
          put(remote, kind, texts, state)
          arm(remote, state)
        end

        # Operations on keys were given up, and may arrive. A listed key stays listed, and its time counts from now.
        #
        # @param remote [Integer]
        # @param keys [Array<String>]
        # @return [void]
        def expect(remote, keys)
          states = keys.map { |key| change(entry(:delete, remote, key)) { |before| State.expected(before) } }
          arm(remote, State.first(states))
        end

        # A change was applied that was not listed. If an operation may arrive after it, its key is deleted later.
        #
        # @param (see #add)
        # @return [Boolean] may that be so for the lists of others?
        def changed(remote, kind, texts)
          state = State.repeated
          states = reached(remote, kind, texts).filter_map { |name| repeat_late(name, state) }
          arm(remote, state) if states.include?(state)
          states.any?
        end

        # Not all changes are listed.
        #
        # @param remote [Integer]
        # @return [void]
        def overflow(remote)
          set(of(OVERFLOWN, remote), State.fresh)
          touch(remote)
        end

        # @param remote [Integer]
        # @param mark [String] as of {#overflown}; a later overflow stays
        # @return [void]
        def recover(remote, mark)
          @cache.cas(of(OVERFLOWN, remote), mark, State::NONE, pin: true)
        end

        # Has the list used from now on. All marks take their room now.
        #
        # @param remote [Integer]
        # @param empty [Boolean] false: it is to be visited
        # @return [void]
        def use(remote, empty:)
          [OVERFLOWN, WIDE].each { |mark| @cache.add(of(mark, remote), State::NONE, pin: true) }
          added = @cache.add(of(PENDING, remote), empty ? State::NONE : State.fresh, pin: true)
          # A process that has not found the mark has listed its change before.
          touch(remote) if added ? each_batch(remote).any? : !empty
        end

        # A name of the same server must not be read either while a key waits for its second delete.
        #
        # @param other [Integer]
        # @param remote [Integer] gets all entries of the other, with their states
        # @return [Integer] how many
        def copy(other, remote)
          touch(remote)
          count = each_batch(other).sum do |kind, entries, prefix|
            texts_of(entries.keys, prefix).zip(entries) { |text, listed| take(entry(kind, remote, text), *listed) }
            set(of(WIDE, remote), State.fresh) unless kind == :delete
            entries.size
          end
          touch(remote)
          count
        end

        # Makes room. It is no longer known what was listed.
        #
        # @param remote [Integer]
        # @return [Boolean] was anything listed?
        def drop(remote)
          overflow(remote)
          names = KINDS.values.flat_map { |prefix| @cache.each_key(prefix: of(prefix, remote)).to_a }
          @cache.delete_multi(names).positive?
        end

        # Makes room: operations that were given up are no longer expected.
        #
        # @param remote [Integer]
        # @return [Integer] how many there were
        def forget_late(remote)
          each_batch(remote).sum do |_, entries, _|
            entries.count { |name, state| State.late?(state) && @cache.cas(name, state, "", ttl: GONE) }
          end
        end

        # Visits entries that are due. When the block returns, an entry is taken off, or is due once more later.
        #
        # @param remote [Integer]
        # @param seconds [Float] after which it ends
        # @yieldparam kind [Symbol]
        # @yieldparam texts [Array<String>]
        # @return [Array, nil] what to {#settle}; nil: not all entries were visited, or not all are known
        def visit(remote, seconds, &block)
          limit = monotonic_now + seconds
          marks = [WIDE, PENDING].map { |mark| [of(mark, remote), @cache.get(of(mark, remote)).to_s] }
          left = { delete: [], clear: [], delete_matched: [] }
          each_batch(remote) do |kind, entries, prefix|
            left[kind].concat(visit_batch(kind, entries, prefix, &block))
            return if monotonic_now > limit
          end
          return if overflown(remote)

          after = [State.first(left.except(:delete).values.flatten), State.first(left.values.flatten)]
          marks.zip(after)
        end

        # @param visited [Array] of {#visit}
        # @return [Boolean] false: a change was listed since, or the file was emptied
        def settle(visited)
          visited.map { |(name, mark), state| @cache.cas(name, mark, state, pin: true) }.last
        end

        private

        def of(name, remote)
          name.b << [remote].pack("Q<")
        end

        # The text may have any encoding.
        def entry(kind, remote, text)
          of(KINDS.fetch(kind), remote) << text.b
        end

        def clear?(name)
          [nil, State::NONE].include?(@cache.get(name))
        end

        def put(remote, kind, texts, state)
          texts.each { |text| merge(entry(kind, remote, text), state) }
          set(of(WIDE, remote), State.fresh) unless kind == :delete
        end

        def set(name, value)
          @cache.set(name, value, pin: true) || raise(FullError, "lock timeout")
        end

        # @return [String] the entry's state: of those before and this one the one that waits for more
        def merge(name, state)
          change(name) { |before| State.stronger(before, state) }
        end

        # @return [String, nil] the entry's state, which is no longer late
        def repeat_late(name, state)
          change(name) { |before| State.late?(before) ? state : (return before) }
        end

        # Copies an entry, until its state is the same before and after.
        def take(name, source, state)
          until state.empty?
            merge(name, state)
            before, state = state, @cache.get(source).to_s
            return if state == before
          end
        end

        # @yieldparam before [String, nil] the entry's state
        # @yieldreturn [String] the next one
        # @return [String] the same
        def change(name)
          loop do
            before = @cache.get(name)
            after = yield before
            return after if before ? @cache.cas(name, before, after, pin: true) : @cache.add(name, after, pin: true)
            raise FullError, "lock timeout" if @cache.get(name) == before
          end
        end

        # The mark is due no later than the state. It changes in any case: a process that visits the list may have
        # passed the new entry.
        def arm(remote, state)
          change(of(PENDING, remote)) do |before|
            return if before.nil?

            State.first([before, state])
          end
        end

        # @return [Array<String>] names of entries of keys that the change concerns
        def reached(remote, kind, texts)
          return texts.map { |key| entry(:delete, remote, key) } if kind == :delete

          prefix = of(KINDS.fetch(:delete), remote)
          @cache.each_key(prefix: prefix).select do |name|
            key = name.byteslice(prefix.bytesize..)
            next texts.any? { |text| key.start_with?(text.b) } if kind == :clear

            texts.any? { |text| File.fnmatch?(text.b, key, File::FNM_DOTMATCH) }
          end
        end

        # @return [Array<String>] the states of entries that are left
        def visit_batch(kind, entries, prefix)
          due, left = entries.partition { |_, state| State.due?(state) }
          apply = due.filter_map { |name, state| name unless State.late?(state) }
          yield kind, texts_of(apply, prefix) if apply.any?
          left.map(&:last) + due.filter_map { |name, state| advance(name, state) }
        end

        # @return [String, nil] the entry's next state; nil: it is taken off, or was listed again
        def advance(name, state)
          after = State.fresh?(state) ? State.repeated : ""
          swapped = @cache.cas(name, state, after, **(after.empty? ? { ttl: GONE } : { pin: true }))
          after if swapped && !after.empty?
        rescue FullError # no room to wait for late writes
          @cache.cas(name, state, "", ttl: GONE)
          nil
        end

        # @yieldparam kind [Symbol]
        # @yieldparam entries [Hash{String=>String}] their states
        # @yieldparam prefix [String]
        def each_batch(remote)
          return enum_for(:each_batch, remote) unless block_given?

          KINDS.each do |kind, name|
            prefix = of(name, remote)
            @cache.each_key(prefix: prefix).each_slice(BATCH) do |names|
              entries = names.to_h { |entry| [entry, @cache.get(entry).to_s] }.reject { |_, mark| mark.empty? }
              yield kind, entries, prefix if entries.any?
            end
          end
        end

        # @return [Array<String>] names of changes that the remote store has not got
        def fresh(entries)
          entries.filter_map { |name, state| name if State.fresh?(state) }
        end

        def texts_of(names, prefix)
          names.map { |name| name.byteslice(prefix.bytesize..) }
        end
      end
    end
  end
end
