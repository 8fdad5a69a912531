# frozen_string_literal: true

# Keeps sessions in a file, in a program without the store that other programs have behind the same file.

require_relative "../record"
require_relative "detached"
require_relative "file"

module Larder
  module Sessions
    module Backends
      # Sessions that began while another program had a store behind the file may have copies there: during a deploy of
      # `backed_by:` and its rollback, and in a program that names the file alone. Their ends and changes are listed in
      # the file, as those of a {Detached}. So a copy does not bring back what has ended here.
      #
      # Later sessions have no copies, and leave no marks. So a file that has lost its store for good is not filled.
      class Unbacked < File
        # Prefixes of keys. An entry of a user names sessions, and each of them is listed itself.
        SESSIONS = "s/"
        OF_USERS = "u/"
        private_constant :SESSIONS, :OF_USERS

        # @param cache [Larder::Cache]
        # @param ends_life [Numeric, nil] seconds that an end stays listed at most; nil: for ever
        def initialize(cache, ends_life: nil)
          super(cache)
          @detached = Detached.new(cache, ends_life: ends_life)
          @until = CopiedUntil.new(cache)
        end

        # A new session has no copy. A note of a logout is for the store, too.
        #
        # @param (see File#add)
        # @return (see File#add)
        # @raise (see File#add)
        def add(key, bytes, ttl, pin: false)
          !session?(key) && copied?(key) ? @detached.add(key, bytes, ttl, pin: pin) : super
        end

        # @param (see File#swap)
        # @return (see File#swap)
        # @raise (see File#swap)
        def swap(key, expected, bytes, ttl, pin: false)
          copied?(key, expected) ? @detached.swap(key, expected, bytes, ttl, pin: pin) : super
        end

        # A copy may be made between the look and the delete.
        #
        # @param (see File#delete)
        # @return (see File#delete)
        def delete(key)
          found = read(key)
          return @detached.delete(key) if copied?(key, found)

          deleted = super
          @detached.delete(key) if copied?(key, found)
          deleted
        end

        # @param key [String, nil] of an entry, nil: any
        # @param bytes [String, nil] of the entry, nil: the file has none
        # @return [Boolean] may the store have a copy of it?
        def copied?(key = nil, bytes = nil)
          time = @until.time
          return false if time.nil? || key&.start_with?(OF_USERS)

          record = bytes && session?(key) && Record.parse(bytes)
          !record || record.began <= time
        end

        private

        def session?(key)
          key.start_with?(SESSIONS)
        end
      end
    end
  end
end
