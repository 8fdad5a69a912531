# frozen_string_literal: true

module Larder
  module Sessions
    module Backends
      # What a backend answers that keeps sessions in one place: there is no copy to reload, and nobody else to ask.
      module Single
        # @param _key [String]
        # @return [String, nil] bytes of a copy on this machine, which may be older than the session; nil: there is none
        def read_copy(_key); end

        # @return [void]
        # @raise [Larder::RemoteError] what was not found may be there, as the store does not answer
        def check_answers; end

        # @param what [String] that could not be stored, and without which the caller cannot go on
        # @raise [Error]
        def refused(what)
          raise Error, "#{self} did not take #{what}: see that it has room and can be written, and try again"
        end

        # @param _key [String] of an entry that is missing
        # @return [String, nil] bytes of its copy
        def reload(_key); end

        # @param _keys [Array<String>]
        # @return [Hash{String => String}, nil] what other machines have written under them; nil: they cannot be asked
        def elsewhere(_keys)
          {}
        end

        # @param _key [String] of an entry that was read
        # @return [Boolean] is it time to look whether another machine has ended it?
        def check_due?(_key)
          false
        end

        # @return [Boolean] are there copies elsewhere, of which this program may not know?
        def copied?
          false
        end

        # @return [String, nil] the class of the store that has copies, nil: there is none
        def behind; end
      end
    end
  end
end
