# frozen_string_literal: true

# Lists the changes that the remote store has not got because it did not answer.

require "securerandom"
require "larder/store/remote/journal/mark"
require "larder/store/remote/journal/members"

module Larder
  module Store
    class Remote
      # A change stays listed until it was applied, whichever process applies it, and whatever is killed. The list is in
      # a file of its own next to the cache's, which `clear` does not empty. What that file cannot take is listed in the
      # memory of the process.
      #
      # Processes with several remote stores may use one path, as in a deploy that changes a URL. A change is listed for
      # each of them, and each takes only its own list off: another URL may mean another server. It may also be another
      # name of the same server, so a remote store that is used for the first time gets what is listed for the others.
      #
      # A file that is full has forgotten changes: then {#overflown?}. So has one that was emptied, because the machine
      # crashed, or a later version of Larder made it. That shows as follows: {PENDING} is never absent from a file that a
      # process has used, and a {Mark} tells that changes were listed.
      # @api private
      class Journal
        SIZE = 4 << 20
        # Prefixes of what is listed, by its kind. The id of the remote store follows, in 8 bytes.
        KINDS = { delete: "d/", clear: "c/", delete_matched: "m/" }.freeze
        # A random token of the latest change, or {NONE} after all were applied. So the value never gets longer.
        PENDING = "pending/"
        # The same of changes of more than keys that are listed, and of changes that could not be listed.
        WIDE = "wide/"
        OVERFLOWN = "overflown/"
        NONE = "\0" * 8
        # Held by the process that applies changes, for so many seconds at most.
        LOCK = "lock/"
        LOCKED = 3
        # Seconds to live of an entry that was applied: it can be swapped, but not deleted, by its bytes.
        GONE = 0.001
        # Seconds that a request may spend on applying changes, and how many it applies at once.
        LIMIT = 0.1
        BATCH = 100
        # Changes in memory.
        MOST = 1024
        # Seconds between two renewals of the process's row of Members.
        RENEWAL = 60
        # An id of the machine.
        MACHINE = "machine"
        # A random token of the latest change without a message to other machines, or nothing. The id of the backplane
        # follows.
        UNSENT = "unsent/"
        private_constant :SIZE, :KINDS, :PENDING, :OVERFLOWN, :WIDE, :NONE, :LOCK, :LOCKED, :GONE, :LIMIT, :BATCH,
                         :MOST, :RENEWAL, :MACHINE, :UNSENT

        # @param path [String] of its file, which the first use makes
        # @param remote [Integer] the id of the remote store
        # @param prefix [#call] answers what keys of its namespace start with
        # @param backplane [Integer] the id of the backplane
        def initialize(path, remote: 0, prefix: -> { "" }, backplane: 0)
          @path = path
          @remote = remote
          @prefix = prefix
          @pending, @overflown, @wide, @lock = [PENDING, OVERFLOWN, WIDE, LOCK].map { |name| of(name, remote) }
          @unsent_name = of(UNSENT, backplane)
          @mark = Mark.new(path, remote)
          @memory = []
          @mutex = Mutex.new
          @renew_at = 0
        end

        # @param kind [Symbol] delete, clear or delete_matched
        # @param texts [Array<String>] keys, or what keys start with, or patterns
        # @return [void]
        def note(kind, texts)
          pending
          @mark.make
          list_for_all(kind, texts)
          @mark.make # a process that has applied all before may have removed it
        rescue FullError
          drop_unused.any? ? retry : overflow
        rescue Larder::Error
          remember(kind, texts)
        end

        # @return [Boolean]
        # @raise [Larder::Error] it is unknown, as its file cannot be opened
        def empty?
          @memory.empty? && pending == NONE
        end

        # @return [Boolean] is it known of each key whether it is listed?
        # @raise (see #empty?)
        def of_keys?
          @memory.empty? && !overflown? && clear?(@wide)
        end

        # @param keys [Array<String>]
        # @return [Array<String>] those that are not listed
        # @raise (see #empty?)
        def unlisted(keys)
          empty? ? keys : keys.select { |key| cache.get(entry_of(:delete, @remote, key)).to_s == "" }
        end

        # @return [Hash{Symbol=>Object}] for people; what is nil is not known, as the file cannot be opened
        def stats
          { waiting: !empty?, listed: size, overflown: overflown? }
        rescue Larder::Error
          { waiting: true, listed: nil, overflown: nil }
        end

        # @return [Boolean] are there changes that it does not list?
        # @raise (see #empty?)
        def overflown?
          @memory.size >= MOST || !(absent? || clear?(@overflown))
        end

        # Yields to clear the remote store, which takes back an overflow of before.
        # @return [void]
        # @raise [Larder::Error]
        def recover
          memory = @memory
          mark = cache.get(@overflown) unless absent?
          yield
          @mutex.synchronize { @memory = [] if @memory.equal?(memory) }
          cache.cas(@overflown, mark, NONE, pin: true) if mark
        end

        # @return [Array<String>] what keys of the remote store's namespaces start with, as far as processes use them
        def prefixes
          [@prefix.call, *(members.prefixes(@remote) unless absent?)].uniq
        end

        # Visits what is listed for {LIMIT} seconds, unless another process does. Changes are taken off the list when
        # the block returns; an exception ends the visit.
        #
        # @yieldparam kind [Symbol]
        # @yieldparam texts [Array<String>]
        # @return [void]
        def each(&block)
          return each_remembered(&block) if absent?
          return unless cache.add(@lock, "", ttl: LOCKED)

          begin
            each_remembered(&block)
            each_listed(&block)
          ensure
            cache.delete(@lock)
          end
        end

        # @return [String] the same in all processes, unless the file cannot be opened
        def machine
          cache.add(MACHINE, SecureRandom.hex(8), pin: true)
          cache.get(MACHINE) || SecureRandom.hex(8)
        rescue Larder::Error
          SecureRandom.hex(8)
        end

        # A message about a change could not be sent to other machines.
        # @return [Boolean] false: only this process knows, as the file takes no mark
        def unsent!
          token = SecureRandom.bytes(8)
          cache.set(@unsent_name, token, pin: true) || raise(BusyError, "lock timeout")
          @unsent = nil
          true
        rescue Larder::Error
          @unsent = token
          false
        end

        # @return [String, nil] a mark of the latest change without a message to other machines
        def unsent
          token = @unsent || cache.get(@unsent_name).to_s
          token unless token.empty?
        rescue Larder::Error
          nil
        end

        # Other machines know that all copies from before the mark are old.
        # @param mark [String]
        # @return [void]
        # @raise [Larder::Error]
        def sent(mark)
          return @unsent = nil if @unsent == mark

          cache.cas(@unsent_name, mark, "")
        end

        private

        def of(name, remote)
          name + [remote].pack("Q<")
        end

        def entry_of(kind, remote, text)
          of(KINDS.fetch(kind), remote) + text
        end

        def token
          SecureRandom.bytes(NONE.bytesize)
        end

        def cache
          @cache ||= Larder::Cache.open(@path, size: SIZE, lazy: :required)
        end

        def members
          @members ||= Members.new(cache)
        end

        # @param name [String] of a mark
        def clear?(name)
          [nil, NONE].include?(cache.get(name))
        end

        # Is there no file, and can none be made? Then no process has listed anything in it.
        def absent?
          cache.get(@pending)
          false
        rescue OpenError
          raise unless missing?

          true
        end

        # What cannot be looked at is taken to be there.
        def missing?
          File.lstat(@path)
          false
        rescue Errno::ENOENT, Errno::ENOTDIR
          !@mark.there?
        rescue SystemCallError
          false
        end

        # @return [String]
        def pending
          return join if monotonic_now >= @renew_at

          cache.get(@pending) || join
        rescue OpenError
          raise unless missing?

          NONE
        end

        # From now on, changes are listed for the remote store.
        #
        # @return [String] the value of {PENDING}
        def join
          prefix = @prefix.call
          is_whole = members.enter(@remote, prefix)
          unless is_whole && cache.get(@pending)
            adopt
            members.complete(@remote, prefix)
          end
          @renew_at = monotonic_now + RENEWAL
          cache.get(@pending) || raise(BusyError, "#{@path} was emptied")
        rescue FullError
          drop(members.all - [@remote]).any? ? retry : raise
        end

        # Lists what is listed for the others. {PENDING} comes last: with it the list is whole.
        def adopt
          joined = @renew_at.positive? # before the look at the file: another thread may join now
          emptied = cache.get(@pending).nil?
          lost = (emptied && @mark.there?) || lost_by_others?
          unsent! if emptied && (lost || joined)
          cache.add(@overflown, NONE, pin: true)
          taken = take_over unless lost
          store(@overflown, token) unless taken
          publish(taken && taken.zero? && clear?(@overflown) ? NONE : token)
        end

        # @return [Integer, nil] how many changes; nil: not all are known, or there is no room
        def take_over
          others = members.all - [@remote]
          return unless others.all? { |other| clear?(of(OVERFLOWN, other)) }

          others.sum { |other| copy(other) }
        rescue FullError
          nil
        end

        def copy(other)
          KINDS.sum do |kind, prefix|
            cache.each_key(prefix: of(prefix, other)).each_slice(BATCH).sum do |entries|
              texts = listed(entries).keys.map { |entry| entry.byteslice(of(prefix, other).bytesize..) }
              next 0 if texts.empty?

              @mark.make
              list(@remote, kind, texts)
              texts.size
            end
          end
        end

        # Was a list of another remote store emptied that its processes have not opened since?
        def lost_by_others?
          @mark.others.any? { |other| cache.get(of(PENDING, other)).nil? }
        end

        # A process that has not found {PENDING} has listed its change before.
        def publish(value)
          unless cache.add(@pending, value, pin: true)
            return touch(@remote) unless value == NONE
          end
          touch(@remote) if value == NONE && KINDS.each_value.any? { |prefix| cache.each_key(prefix: of(prefix, @remote)).any? }
        end

        # A remote store that is used for the first time at this moment may have read the list of another one before.
        def list_for_all(kind, texts)
          done = []
          while (remotes = members.remotes.union([@remote]) - done).any?
            remotes.each { |remote| list(remote, kind, texts) }
            done += remotes
          end
        end

        # Marks last: a process that applies what is listed must not take off those of what it has not seen.
        def list(remote, kind, texts)
          mark = token
          texts.each { |text| store(entry_of(kind, remote, text), mark) }
          store(of(WIDE, remote), mark) unless kind == :delete
          touch(remote)
        end

        # If the remote store has no {PENDING} yet, it is about to get it.
        def touch(remote)
          cache.replace(of(PENDING, remote), token, pin: true)
        end

        def store(name, value)
          cache.set(name, value, pin: true) || raise(FullError, "lock timeout")
        end

        def overflow
          members.remotes.union([@remote]).each { |remote| overflow_of(remote) }
        rescue Larder::Error
          @mutex.synchronize { @memory = [nil] * MOST }
        end

        def overflow_of(remote)
          store(of(OVERFLOWN, remote), token)
          touch(remote)
        end

        # Makes room for the remote stores that are in use. The others are cleared if they are used again.
        #
        # @return [Array<Integer>] those whose lists were dropped
        def drop_unused
          drop(members.all - members.remotes)
        end

        def drop(remotes)
          remotes.select do |remote|
            names = KINDS.values.flat_map { |prefix| cache.each_key(prefix: of(prefix, remote)).to_a }
            overflow_of(remote) if names.any?
            cache.delete_multi(names).positive?
          end
        end

        def remember(kind, texts)
          @mutex.synchronize { @memory = (@memory + texts.map { |text| [kind, text] }).first(MOST) }
        end

        def size
          return @memory.compact.size if absent?

          @memory.compact.size + KINDS.values.sum do |prefix|
            cache.each_key(prefix: of(prefix, @remote)).each_slice(BATCH).sum { |entries| listed(entries).size }
          end
        end

        # @param entries [Array<String>]
        # @return [Hash{String=>String}] tokens of those that were not applied
        def listed(entries)
          entries.to_h { |entry| [entry, cache.get(entry).to_s] }.reject { |_, token| token.empty? }
        end

        def each_remembered
          @memory.compact.group_by(&:first).each do |kind, changes|
            yield kind, changes.map(&:last)
            @mutex.synchronize { @memory -= changes }
          end
        end

        def each_listed(&block)
          limit = monotonic_now + LIMIT
          marks = [@wide, @pending].to_h { |mark| [mark, cache.get(mark)] }.compact
          whole = KINDS.all? do |kind, prefix|
            cache.each_key(prefix: of(prefix, @remote)).each_slice(BATCH).all? do |entries|
              visit(kind, of(prefix, @remote), entries, &block) && monotonic_now < limit
            end
          end
          return unless whole && clear?(@overflown)

          marks.each { |mark, token| cache.cas(mark, token, NONE, pin: true) }
          unmark
        end

        def visit(kind, prefix, entries)
          listed = listed(entries)
          yield kind, listed.keys.map { |entry| entry.byteslice(prefix.bytesize..) } if listed.any?
          listed.each { |entry, token| cache.cas(entry, token, "", ttl: GONE) } # not if listed again
        end

        # Unless a change was listed since.
        def unmark
          @mark.remove
          @mark.make unless empty?
        end

        def monotonic_now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
