# frozen_string_literal: true

# Keeps sessions in a file, in a program without the store that other programs have behind the same file.

require "larder/bytes/companions"
require "larder/remote/configuration"
require "larder/remote/outbox/journal"
require_relative "../record"
require_relative "file"
require_relative "tombstones"

module Larder
  module Sessions
    module Backends
      # Sessions may have copies in the store of another program: of the application, for the command line; or of
      # processes with `backed_by:`, during a deploy and its rollback. Their ends and changes are listed in the journal
      # of {Backed}, which tells the store. So a copy does not bring back what has ended here.
      #
      # A delete also leaves a mark, see {Tombstones}. Without an original the mark may be evicted; otherwise anybody
      # could fill the file with marks.
      #
      # Sessions that began after the last copy was made have no copies, and leave no marks. So a file that has lost its
      # store for good is not filled.
      class Unbacked < File
        # The remote store of the journal: a file has one list, whichever store is behind it.
        REMOTE = "backed_by"
        # Before a key in the journal: its copy is old. The key alone: it has ended.
        CHANGED = "c/"
        # Until when the store got copies, in Unix seconds.
        COPIED = "copied"
        # How the keys of users begin. Such an entry names sessions, and each of them is listed itself.
        OF_USERS = "u/"
        private_constant :CHANGED, :COPIED, :OF_USERS

        # @param cache [Larder::Cache]
        # @param backed [Boolean] the application has a store behind the file
        def initialize(cache, backed: false)
          super(cache)
          @backed = backed
          @file = File.new(cache) # for entries without a copy
          @tombstones = Tombstones.new(@file)
        end

        # @param (see File#add)
        # @return (see File#add)
        # @raise (see File#add)
        def add(key, bytes, ttl, pin: false)
          super.tap { |outcome| changed(key, bytes, ttl) if outcome == :stored && copied?(key, bytes) }
        end

        # @param (see File#swap)
        # @return (see File#swap)
        # @raise (see File#swap)
        def swap(key, expected, bytes, ttl, pin: false)
          super.tap { |outcome| changed(key, bytes, ttl) if outcome == :stored && copied?(key, expected) }
        end

        # A copy may be made between the look and the delete.
        #
        # @param (see File#delete)
        # @return (see File#delete)
        def delete(key)
          found = @file.read(key)
          left = cache.ttl(key) if found
          mark(key, left) if (marked = copied?(key, found))
          deleted = super
          return deleted unless marked || copied?(key, found)

          mark(key, left) unless marked
          @tombstones.set(key, left, most: Tombstones::REMEMBERED) if ended(key, left) && left
          deleted
        end

        # @param key [String, nil] of an entry, nil: any
        # @param bytes [String, nil] of the entry, nil: the file has none
        # @return [Boolean] may the store have a copy of it?
        def copied?(key = nil, bytes = nil)
          return true if @backed

          time = cache.get(COPIED)&.to_i
          return false if time.nil? || key&.start_with?(OF_USERS)

          record = bytes && session?(key) && Record.parse(bytes)
          !record || record.began <= time
        end

        private

        def session?(key)
          key.start_with?(SESSIONS)
        end

        # @param left [Numeric, nil] seconds that the original has to live, nil: there is none
        def mark(key, left)
          @tombstones.set(key, left || Tombstones::REMEMBERED, pin: !left.nil?)
        end

        def journal
          @journal ||= ::Larder::Remote::Outbox::Journal.new(
            Companions.journal(cache.path), remote: ::Larder::Remote::Configuration.number(REMOTE)
          )
        end

        def changed(key, _bytes, _ttl)
          journal.note(:delete, [CHANGED + key])
        end

        # @return [Boolean] has the store deleted the copy?
        def ended(key, _left)
          journal.note(:delete, [key])
          false
        end
      end
    end
  end
end
