# frozen_string_literal: true

# Lists the changes that the remote store has not got because it did not answer.

require "fileutils"
require "securerandom"

module Larder
  module Store
    class Remote
      # A change stays listed until it was applied, whichever process applies it, and whatever is killed. The list is in
      # a file of its own beside the cache's, which `clear` does not empty. What that file cannot take is listed in the
      # memory of the process.
      #
      # A file that is full has forgotten changes: then {#overflown?}. So has one that was emptied, because the machine
      # crashed, or a later version of Larder made it. That changes were listed is known by another, empty file, which
      # is made before the first and removed after the last.
      # @api private
      class Journal
        SIZE = 4 << 20
        # Prefixes of what is listed, by its kind.
        KINDS = { delete: "d/", clear: "c/", delete_matched: "m/" }.freeze
        # A random token of the latest change, or nothing after all were applied.
        PENDING = "pending"
        OVERFLOWN = "overflown"
        # The same of changes of more than keys that are listed.
        WIDE = "wide"
        # Held by the process that applies changes, for so many seconds at most.
        LOCK = "lock"
        LOCKED = 3
        # Seconds to live of an entry that was applied: it can be swapped, but not deleted, by its bytes.
        NONE = 0.001
        # Seconds that a request may spend on applying changes, and how many it applies at once.
        LIMIT = 0.1
        BATCH = 100
        # Changes in memory.
        MOST = 1024
        # An id of the machine.
        MACHINE = "machine"
        # A random token of the latest change that other machines were not told of, or nothing.
        UNSENT = "unsent"
        YES = "1"
        NO = "0"
        private_constant :SIZE, :KINDS, :PENDING, :OVERFLOWN, :WIDE, :LOCK, :LOCKED, :NONE, :LIMIT, :BATCH, :MOST,
                         :MACHINE, :UNSENT, :YES, :NO

        # @param path [String] of its file, which is made when the first change is listed
        def initialize(path)
          @path = path
          @mark = "#{path}.pending"
          @memory = []
          @mutex = Mutex.new
        end

        # @param kind [Symbol] delete, clear or delete_matched
        # @param texts [Array<String>] keys, or what keys start with, or patterns
        # @return [void]
        def note(kind, texts)
          token = SecureRandom.bytes(8)
          mark if cache # which must be open before there is a mark
          marks = kind == :delete ? [PENDING] : [WIDE, PENDING]
          # Marks last: who applies what is listed must not take off those of what it has not seen.
          [*texts.map { |text| KINDS.fetch(kind) + text }, *marks].each do |entry|
            cache.set(entry, token, pin: true) || raise(FullError, "lock timeout")
          end
        rescue FullError
          overflow
        rescue Larder::Error
          remember(kind, texts)
        end

        # @return [Boolean]
        # @raise [Larder::Error] it is unknown, as its file cannot be opened
        def empty?
          return false if @memory.any?
          return true unless there?

          cache.get(PENDING).to_s == "" && !overflown?
        end

        # @return [Boolean] is it known of each key whether it is listed?
        def of_keys?
          @memory.empty? && !overflown? && cache.get(WIDE).to_s == ""
        end

        # @param keys [Array<String>]
        # @return [Array<String>] those that are not listed
        def unlisted(keys)
          empty? ? keys : keys.select { |key| cache.get(KINDS.fetch(:delete) + key).to_s == "" }
        end

        # @return [Integer] how many changes are listed
        def size
          return @memory.compact.size unless there?

          listed = KINDS.values.sum do |prefix|
            cache.each_key(prefix: prefix).count { |entry| cache.get(entry).to_s != "" }
          end
          @memory.compact.size + listed
        end

        # @return [Boolean] are there changes that it does not list?
        def overflown?
          @memory.size >= MOST || (there? && cache.get(OVERFLOWN) == YES)
        end

        # Visits what is listed for {LIMIT} seconds, unless another process does. Changes are taken off the list when
        # the block returns; an exception ends the visit.
        #
        # @yieldparam kind [Symbol]
        # @yieldparam texts [Array<String>]
        # @return [void]
        def each(&block)
          return unless there? ? cache.add(LOCK, "", ttl: LOCKED) : @memory.any?

          begin
            each_remembered(&block)
            each_listed(&block) if there?
          ensure
            cache.delete(LOCK) if there?
          end
        end

        # @return [String] the same in all processes, unless the file cannot be opened
        def machine
          cache.add(MACHINE, SecureRandom.hex(8), pin: true)
          cache.get(MACHINE) || SecureRandom.hex(8)
        rescue Larder::Error
          SecureRandom.hex(8)
        end

        # Other machines could not be told of a change.
        # @return [Boolean] false: only this process knows, as the file takes no mark
        def unsent!
          token = SecureRandom.bytes(8)
          cache.set(UNSENT, token, pin: true) || raise(BusyError, "lock timeout")
          @unsent = nil
          true
        rescue Larder::Error
          @unsent = token
          false
        end

        # @return [String, nil] a mark of the latest change that other machines were not told of
        def unsent
          token = @unsent || cache.get(UNSENT).to_s
          token unless token.empty?
        rescue Larder::Error
          nil
        end

        # Other machines were told of all changes until the mark was made.
        # @param mark [String]
        # @return [void]
        # @raise [Larder::Error]
        def sent(mark)
          return @unsent = nil if @unsent == mark

          cache.cas(UNSENT, mark, "")
        end

        # The remote store was cleared.
        # @return [void]
        def recovered
          @mutex.synchronize { @memory = [] }
          cache.set(OVERFLOWN, NO, pin: true) if there?
          unmark
        end

        private

        def there?
          @cache || File.exist?(@path) || File.exist?(@mark)
        end

        # The mark of an overflow takes its room before others can.
        def cache
          @cache ||= opened(File.exist?(@mark))
        end

        def opened(listed)
          Larder::Cache.open(@path, size: SIZE, lazy: :required).tap do |made|
            made.add(OVERFLOWN, listed ? YES : NO, pin: true)
          end
        end

        # Survives a crash of the machine.
        def mark
          return if File.exist?(@mark)

          File.open(@mark, File::CREAT | File::WRONLY, 0o600, &:fsync)
          File.open(File.dirname(@mark), &:fsync)
        rescue SystemCallError
          nil # the list itself is in place
        end

        # Unless a change was listed since.
        def unmark
          FileUtils.rm_f(@mark)
          mark unless empty?
        rescue SystemCallError
          nil
        end

        def overflow
          cache.set(OVERFLOWN, YES, pin: true) || raise(BusyError, "lock timeout")
        rescue Larder::Error
          @mutex.synchronize { @memory = [nil] * MOST }
        end

        def remember(kind, texts)
          @mutex.synchronize { @memory = (@memory + texts.map { |text| [kind, text] }).first(MOST) }
        end

        def each_remembered
          @memory.compact.group_by(&:first).each do |kind, changes|
            yield kind, changes.map(&:last)
            @mutex.synchronize { @memory -= changes }
          end
        end

        def each_listed(&block)
          limit = monotonic_now + LIMIT
          marks = [WIDE, PENDING].to_h { |mark| [mark, cache.get(mark)] }.compact
          whole = KINDS.all? do |kind, prefix|
            cache.each_key(prefix: prefix).each_slice(BATCH).all? do |entries|
              visit(kind, prefix, entries, &block) && monotonic_now < limit
            end
          end
          return unless whole

          marks.each { |mark, token| cache.cas(mark, token, "") }
          unmark
        end

        def visit(kind, prefix, entries)
          listed = entries.to_h { |entry| [entry, cache.get(entry).to_s] }.reject { |_, token| token.empty? }
          yield kind, listed.keys.map { |entry| entry.byteslice(prefix.bytesize..) } if listed.any?
          listed.each { |entry, token| cache.cas(entry, token, "", ttl: NONE) } # not if listed again
        end

        def monotonic_now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end
      end
    end
  end
end
