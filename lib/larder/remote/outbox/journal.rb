# frozen_string_literal: true

# The list of the changes that the remote store has not got because it did not answer.

require "securerandom"
require "larder/bytes/monotonic_clock"
require "larder/remote/outbox/absence"
require "larder/remote/outbox/lists"
require "larder/remote/outbox/mark"
require "larder/remote/outbox/members"
require "larder/remote/outbox/memory"

module Larder
  module Remote
    class Outbox
      # A change stays listed until it was applied, whichever process applies it, and whatever is killed. Then it
      # waits to be applied once more: a write that was given up before may arrive late, and overwrite it.
      #
      # The lists are in a file of their own next to the cache's, which `clear` does not empty. A change that the file
      # cannot take is in the {Memory} of the process, and is applied once. If there is no file and none can be made,
      # the remote store is used, and that is reported. Other processes do not use it while one has changes in memory.
      #
      # Processes with several remote stores may use one path, as in a deploy that changes a URL. A change is listed
      # for each of them, and each takes only its own list off: another URL may mean another server. It may also be
      # another name of the same server, so a remote store that is used for the first time gets what is listed for the
      # others, also changes that wait to be applied once more.
      #
      # A file that is full has forgotten changes: then {#overflown?}. So has one that was emptied or removed, because
      # the machine crashed, or a later version of Larder made another. A process notices that its file has become
      # another one. If it has seen changes in the first, or a {Mark} tells that changes were listed and the list has
      # none, changes are lost.
      # @api private
      class Journal
        include MonotonicClock

        SIZE = 4 << 20
        # Held by the process that applies changes; seconds, at most.
        LOCK = "lock/"
        LOCKED = 3
        # Seconds that a request may spend on applying changes.
        LIMIT = 0.1
        # Seconds between two renewals of the process's row of Members.
        RENEWAL = 60
        # An id of the machine, and of the file: no other has the same.
        MACHINE = "machine"
        # A random token of the latest change without a message to other machines, or nothing. The id of the backplane
        # follows.
        UNSENT = "unsent/"
        private_constant :SIZE, :LOCK, :LOCKED, :LIMIT, :RENEWAL, :MACHINE, :UNSENT

        # @param path [String] of its file, which the first use makes
        # @param remote [Integer] the id of the remote store
        # @param prefix [#call] answers what keys of its namespace start with
        # @param backplane [Integer] the id of the backplane
        def initialize(path, remote: 0, prefix: -> { "" }, backplane: 0)
          @path = path
          @remote = remote
          @prefix = prefix
          @lock = LOCK + Configuration.hex(remote)
          @unsent_name = UNSENT + Configuration.hex(backplane)
          @marks = [Lists.pending_mark(remote), MACHINE].freeze
          @mark = Mark.new(path, remote)
          @memory = Memory.new(path, remote)
          @absence = Absence.new(path, SIZE) { @listed || marked? }
          @renew_at = 0
        end

        # @yieldparam error [Larder::OpenError] why there is no file, once in a process
        # @return [void]
        def when_absent(&block)
          @absence.when_reported(&block)
        end

        # @param kind [Symbol] delete, clear or delete_matched
        # @param texts [Array<String>] keys, or what keys start with, or patterns
        # @return [void]
        def note(kind, texts)
          begin
            list_for_all(kind, texts)
          rescue FullError
            forget_late || drop_unused.any? ? retry : overflow
          end
        rescue Larder::Error
          @memory.add(kind, texts)
        end

        # Operations on keys were given up before they were answered, and may still arrive. They are not repeated, but
        # a change of a key that is applied in the meantime is.
        #
        # @param keys [Array<String>]
        # @return [void]
        def expect(keys)
          pending
          each_in_use { |remote| lists.expect(remote, keys) } unless absent?
        rescue Larder::Error
          nil # without room, an operation that arrives late stays
        end

        # A change was applied that was not listed.
        #
        # @param (see #note)
        # @return [void]
        def changed(kind, texts)
          return if absent? || !lists.changed(@remote, kind, texts)

          each_in_use { |remote| lists.changed(remote, kind, texts) }
        rescue Larder::Error
          nil # as of expect
        end

        # A change was applied, and is to be applied once more.
        #
        # @param (see #note)
        # @return [void]
        def repeat(kind, texts)
          lists.repeat(@remote, kind, texts) unless absent?
        rescue Larder::Error
          nil # as of expect
        end

        # Each call of the remote store asks this, which reads what {#pending} looks at by one call.
        # @return [Boolean] is nothing listed at all?
        # @raise [RemoteError] it is unknown, as its file cannot be opened
        def quiet?
          return false unless @memory.changes.empty?

          found = (@cache || cache).get_multi(@marks)
          return pending == State::NONE unless found[@marks.first] == State::NONE && found[MACHINE] == @file &&
                                               Process.clock_gettime(Process::CLOCK_MONOTONIC) < @renew_at

          @listed = false
          true
        rescue Larder::Error => e
          reading { e.is_a?(OpenError) ? pending == State::NONE : raise(e) }
        end

        # @return [Object] the block's value
        # @raise [RemoteError] in place of the file's errors
        def reading
          yield
        rescue Larder::Error => e
          raise if e.is_a?(RemoteError)

          raise RemoteError, "the remote store is not asked, as its journal cannot be read: #{e.message}"
        end

        # @return [Boolean] has the remote store got all changes?
        # @raise [Larder::Error] as the questions below: it is unknown, as its file cannot be opened
        def empty?
          @memory.empty? && !State.fresh?(pending)
        end

        # @return [Boolean] is there anything to apply?
        def due?
          !@memory.empty? || State.due?(pending)
        end

        # @return [Boolean] is it known of each key whether it is listed?
        def of_keys?
          @memory.empty? && !overflown? && (absent? || lists.keys_only?(@remote))
        end

        # @param keys [Array<String>]
        # @return [Array<String>] those that may be read (see Lists)
        def unlisted(keys)
          quiet? ? keys : lists.unlisted(@remote, keys)
        end

        # @param keys [Array<String>]
        # @return [Boolean] has the remote store got all changes of them?
        def applied?(keys)
          empty? || lists.applied?(@remote, keys)
        end

        # @return [Hash{Symbol=>Object}] for people; what is nil is not known, as the file cannot be opened
        def stats
          listed = @memory.size
          listed += lists.size(@remote) unless absent?
          { waiting: !empty?, listed: listed, overflown: overflown? }
        rescue Larder::Error
          { waiting: true, listed: nil, overflown: nil }
        end

        # Changes in memory are applied before, whether or not the file can be opened.
        #
        # @return [Boolean] are there changes that it does not list?
        def overflown?
          return @memory.full? unless @memory.empty?

          !(absent? || lists.overflown(@remote).nil?)
        end

        # Yields to clear the remote store, which makes up for an overflow of before, unless another process does.
        #
        # @yieldparam prefixes [Array<String>] what keys of its namespaces start with
        # @return [void]
        # @raise [Larder::Error]
        def recover(&block)
          return recover_from(nil, &block) if @memory.full?

          alone { (mark = lists.overflown(@remote)) && recover_from(mark, &block) }
        end

        # Visits changes that are due for {LIMIT} seconds, unless another process does. When the block returns, a
        # change is taken off the list, or is due once more later; an exception ends the visit.
        #
        # @yieldparam kind [Symbol]
        # @yieldparam texts [Array<String>]
        # @return [void]
        def each(&block)
          @memory.each(&block)
          return if absent? || !due?

          alone do
            visited = lists.visit(@remote, LIMIT, &block)
            settle(visited) if visited
          end
        end

        # @return [String] the same in all processes, unless the file cannot be opened
        def machine
          @file || known_machine || SecureRandom.hex(8)
        end

        # @return [String, nil] as {#machine}; nil: the file cannot be opened
        def known_machine
          @file || file_id
        rescue Larder::Error
          nil
        end

        # For work that one process of the machine does for all.
        #
        # @param name [String] of the work
        # @param seconds [Numeric] between two times
        # @return [Boolean] is it the turn of this process? true also if the file cannot be opened
        def turn?(name, seconds)
          cache.add("turn/#{name}/#{@lock}", "", ttl: seconds)
        rescue Larder::Error
          true
        end

        # @return [Time, nil] since when changes are listed; nil: none are, or that is not known
        def since
          @mark.since
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

        def cache
          @cache ||= Larder::Cache.open(@path, size: SIZE, lazy: :required)
        end

        def lists
          @lists ||= Lists.new(cache)
        end

        def members
          @members ||= Members.new(cache)
        end

        # @return [String] as of Lists; {State::NONE} also if there is no file
        def pending
          state = lists.pending(@remote)
          return join if state.nil? || cache.get(MACHINE) != @file || monotonic_now >= @renew_at

          @listed = state != State::NONE
          state
        rescue OpenError => e
          @absence.confirm(e) && State::NONE
        end

        # @return [Boolean] there is no file, and none can be made
        def absent?
          lists.pending(@remote)
          false
        rescue OpenError => e
          @absence.confirm(e)
        end

        # @return [Boolean] are changes listed, or in the memory of another process?
        def marked?
          @mark.there? || @memory.others.any?
        end

        # @return [String, nil]
        def file_id
          cache.add(MACHINE, SecureRandom.hex(8), pin: true)
          cache.get(MACHINE)
        end

        # From now on, changes are listed for the remote store.
        #
        # @return [String] as of Lists#pending
        def join
          prefix, file = @prefix.call, file_id
          has_left = @file && @file != file
          in_use = members.enter(@remote, prefix) && lists.pending(@remote)
          lost = lost?(has_left) || (!in_use && lost_by_others?)
          unsent! if has_left || lost
          in_use ? (lists.overflow(@remote) if lost) : take_over(prefix, lost)
          @mark.renew
          @absence.over
          @file, @renew_at = file, monotonic_now + RENEWAL
          lists.pending(@remote) || raise(BusyError, "#{@path} was emptied")
        rescue FullError
          forget_late || drop(members.all - [@remote]).any? || drop([@remote]).any? ? retry : raise
        end

        # @param has_left [Boolean] another file
        # @return [Boolean] were changes listed that the list does not have?
        def lost?(has_left)
          (has_left && @listed) || (marked? && [nil, State::NONE].include?(lists.pending(@remote)))
        end

        # Lists what is listed for the others.
        def take_over(prefix, lost)
          taken = lost ? nil : copy_others
          lists.overflow(@remote) unless taken
          lists.use(@remote, empty: taken&.zero? && lists.overflown(@remote).nil? && !@mark.there?)
          members.complete(@remote, prefix)
        end

        # @return [Integer, nil] how many changes; nil: not all are known, or there is no room for them
        def copy_others
          others = members.all - [@remote]
          return if others.any? { |other| lists.overflown(other) }

          @mark.make if others.any? { |other| lists.size(other).positive? }
          others.sum { |other| lists.copy(other, @remote) }
        rescue FullError
          nil
        end

        # @return [Boolean] a list of another remote store was emptied, and its processes have not opened it since
        def lost_by_others?
          @mark.others.any? { |other| lists.pending(other).nil? }
        end

        def list_for_all(kind, texts)
          pending # has the list in use
          lists.touch(@remote) # raises if there is no file: then there is no mark either
          @mark.make
          each_in_use { |remote| lists.add(remote, kind, texts) }
          @mark.make # a process that has applied all before may have removed it
          @listed = true
        end

        # A remote store that is used for the first time at this moment may have read the list of another one before.
        #
        # @yieldparam remote [Integer] the own one, and each that is in use
        def each_in_use
          done = []
          while (remotes = [@remote, *members.remotes].uniq - done).any?
            remotes.each { |remote| yield remote }
            done += remotes
          end
        end

        # Yields, unless another caller of the machine applies changes.
        def alone
          return unless cache.add(@lock, "", ttl: LOCKED)

          begin
            yield
          ensure
            cache.delete(@lock)
          end
        end

        # @param mark [String, nil] of the overflow of the lists; nil: that of the memory
        def recover_from(mark)
          known, others = @memory.all, @memory.others
          yield [@prefix.call, *(members.prefixes(@remote) if mark)].uniq
          @memory.forget(known)
          return unless mark

          @memory.unmark(others)
          lists.recover(@remote, mark)
        end

        def overflow
          members.remotes.union([@remote]).each { |remote| lists.overflow(remote) }
        rescue Larder::Error
          @memory.overflow
        end

        # Makes room for changes.
        #
        # @return [Boolean]
        def forget_late
          members.all.union([@remote]).sum { |remote| lists.forget_late(remote) }.positive?
        end

        # Makes room for the remote stores that are in use. The others are cleared if they are used again.
        #
        # @return [Array<Integer>] those whose lists were dropped
        def drop_unused
          drop(members.all - members.remotes)
        end

        def drop(remotes)
          remotes.select { |remote| lists.drop(remote) }
        end

        # Where the mark is there, the list is not empty, unless it was lost.
        def settle(visited)
          @mark.remove
          @mark.make unless lists.settle(visited) && empty?
        end
      end
    end
  end
end
