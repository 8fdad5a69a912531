# frozen_string_literal: true

# Notices that the files of two machines have their copies in one store.

require "securerandom"
require_relative "../errors"

module Larder
  module Sessions
    module Backends
      # Each file has an id of its own, and the store has the id of the file that wrote it last. A new file, as after a
      # loss of the old one, writes its id. If a file whose id was in the store finds another one there, another machine
      # uses the store at the same time. This is reported once for a file.
      class OneMachine
        # The name of the entry: in the file the state and the id, in the store the id.
        KEY = "machine"
        # States before the id: the store has not got it, has got it, another id was reported.
        NEW = "n"
        KNOWN = "k"
        REPORTED = "r"
        private_constant :KEY, :NEW, :KNOWN, :REPORTED

        # @param file [File]
        # @param copies [Copies]
        # @param second [#call] called if there is a second machine
        def initialize(file, copies, &second)
          @file = file
          @copies = copies
          @second = second
        end

        # Checks the store's id with each read of the store, which costs no call of its own. The file is read first, so
        # an id that differs was written after that of this file.
        #
        # @yieldparam key [String] to read, too
        # @yieldreturn [Hash{String => String}] bytes from the store
        # @return [Hash{String => String}] without the id
        def watch
          mine = own
          found = yield KEY
          theirs = found.delete(KEY)
          differs(mine, theirs) unless mine.nil? || mine.start_with?(REPORTED) || id(mine) == theirs
          found
        end

        private

        # @return [String, nil] nil: the file has no room
        def own
          @file.read(KEY) || begin
            @file.add(KEY, NEW + SecureRandom.hex(16), nil, pin: true)
            @file.read(KEY)
          end
        end

        def id(mine)
          mine.byteslice(1..)
        end

        # One process reports. The store gets the id, so that the other machine reports, too.
        def differs(mine, theirs)
          second = theirs && mine.start_with?(KNOWN)
          @copies.put(KEY, id(mine), nil)
          after = (second ? REPORTED : KNOWN) + id(mine)
          @second.call if @file.swap(KEY, mine, after, nil, pin: true) == :stored && second
        rescue RemoteError
          nil # the next read tries again
        end
      end
    end
  end
end
