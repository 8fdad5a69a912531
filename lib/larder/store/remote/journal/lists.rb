# frozen_string_literal: true

# The lists in the journal's file, one for each remote store.

require "securerandom"

module Larder
  module Store
    class Remote
      class Journal
        # An entry is a kind, the id of the remote store and a text. Its value is a random token, or empty after the
        # change was applied. Marks are records of the remote store with a token, or {NONE}, so that a value never gets
        # longer. All are pinned. Every method raises Larder::Error if the file cannot be used, FullError if it has no
        # room.
        # @api private
        class Lists
          # Prefixes of entries, by the kind of the change. The id of the remote store follows, in 8 bytes.
          KINDS = { delete: "d/", clear: "c/", delete_matched: "m/" }.freeze
          # A token: changes are listed. Without this mark the list is not in use yet, or the file was emptied.
          PENDING = "pending/"
          # Tokens: changes of more than keys are listed; changes could not be listed.
          WIDE = "wide/"
          OVERFLOWN = "overflown/"
          NONE = "\0" * 8
          # Seconds to live of an entry that was applied: it can be swapped, but not deleted, by its bytes.
          GONE = 0.001
          # Entries that are applied at once.
          BATCH = 100
          private_constant :KINDS, :PENDING, :WIDE, :OVERFLOWN, :NONE, :GONE, :BATCH

          # @param cache [Larder::Cache]
          def initialize(cache)
            @cache = cache
          end

          # @param remote [Integer]
          # @return [Boolean, nil] nil: the list is not in use
          def empty?(remote)
            value = @cache.get(of(PENDING, remote))
            value && value == NONE
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
            value unless value == NONE
          end

          # @param remote [Integer]
          # @param keys [Array<String>]
          # @return [Array<String>] those that are not listed
          def unlisted(remote, keys)
            keys.select { |key| @cache.get(entry(:delete, remote, key)).to_s == "" }
          end

          # @param remote [Integer]
          # @return [Integer]
          def size(remote)
            each_batch(remote).sum { |_, entries, _| entries.size }
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
            mark = token
            texts.each { |text| set(entry(kind, remote, text), mark) }
            set(of(WIDE, remote), mark) unless kind == :delete
            touch(remote)
          end

          # Not all changes are listed.
          #
          # @param remote [Integer]
          # @return [void]
          def overflow(remote)
            set(of(OVERFLOWN, remote), token)
            touch(remote)
          end

          # @param remote [Integer]
          # @param mark [String] as of {#overflown}; a later overflow stays
          # @return [void]
          def recover(remote, mark)
            @cache.cas(of(OVERFLOWN, remote), mark, NONE, pin: true)
          end

          # Has the list used from now on. All marks take their room now.
          #
          # @param remote [Integer]
          # @param empty [Boolean] false: it is to be visited
          # @return [void]
          def use(remote, empty:)
            [OVERFLOWN, WIDE].each { |mark| @cache.add(of(mark, remote), NONE, pin: true) }
            added = @cache.add(of(PENDING, remote), empty ? NONE : token, pin: true)
            # A process that has not found the mark has listed its change before.
            touch(remote) if added ? each_batch(remote).any? : !empty
          end

          # @param other [Integer]
          # @param remote [Integer] gets all that is listed for the other
          # @return [Integer] how many changes
          def copy(other, remote)
            each_batch(other).sum do |kind, entries, prefix|
              add(remote, kind, texts_of(entries, prefix))
              entries.size
            end
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

          # Visits what is listed, and takes it off when the block returns.
          #
          # @param remote [Integer]
          # @param seconds [Float] after which it ends
          # @yieldparam kind [Symbol]
          # @yieldparam texts [Array<String>]
          # @return [Boolean] is the list empty now? Not if a change was listed since, or if the file was emptied
          def visit(remote, seconds)
            limit = monotonic_now + seconds
            marks = [WIDE, PENDING].map { |mark| [of(mark, remote), @cache.get(of(mark, remote)).to_s] }
            each_batch(remote) do |kind, entries, prefix|
              yield kind, texts_of(entries, prefix)
              entries.each { |entry, mark| @cache.cas(entry, mark, "", ttl: GONE) } # not if listed again
              return false if monotonic_now > limit
            end
            return false if overflown(remote)

            marks.map { |name, mark| @cache.cas(name, mark, NONE, pin: true) }.last
          end

          private

          def of(name, remote)
            name.b << [remote].pack("Q<")
          end

          # The text may have any encoding.
          def entry(kind, remote, text)
            of(KINDS.fetch(kind), remote) << text.b
          end

          def token
            SecureRandom.bytes(NONE.bytesize)
          end

          def clear?(name)
            [nil, NONE].include?(@cache.get(name))
          end

          def set(name, value)
            @cache.set(name, value, pin: true) || raise(FullError, "lock timeout")
          end

          # If the list is not in use yet, {#use} finds what is listed.
          def touch(remote)
            @cache.replace(of(PENDING, remote), token, pin: true)
          end

          # @yieldparam kind [Symbol]
          # @yieldparam entries [Hash{String=>String}] tokens of those that were not applied
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

          def texts_of(entries, prefix)
            entries.keys.map { |entry| entry.byteslice(prefix.bytesize..) }
          end

          def monotonic_now
            Process.clock_gettime(Process::CLOCK_MONOTONIC)
          end
        end
      end
    end
  end
end
