# frozen_string_literal: true

module Larder
  module Sessions
    module Backends
      # Answers of a backend that keeps sessions in one place, without a copy to reload.
      module Single
        # @param _key [String]
        # @return [String, nil] bytes of a copy on this machine, which may be older than the session; nil: there is none
        def read_copy(_key); end

        # @param what [String] that could not be stored, and without which the caller cannot go on
        # @raise [Error]
        def refused(what)
          raise Error, "#{self} did not take #{what}: see that it has room and can be written, and try again"
        end

        # @param _key [String] of an entry that is missing
        # @return [String, nil] bytes of its copy
        def reload(_key); end

        # Deletes a session that goes on under another key.
        #
        # @param key [String]
        # @return [Boolean] was it there?
        def discard(key)
          delete(key)
        end

        # @return [Boolean] may an end be applied late, when the session has got another key on another machine?
        def late?
          false
        end

        # @param _key [String] of what has ended, while it was not known which other keys it has
        # @return [void]
        def end_later(_key); end

        # @param _keys [Array<String>] of entries that may be missing
        # @return [Hash{String => String}, nil] bytes of their copies
        def copies(_keys)
          {}
        end

        # @return [Boolean] are there copies that outlive the backend?
        def copied?
          false
        end

        # @return [String, nil] the class of the store that has copies, nil: there is none
        def behind; end
      end
    end
  end
end
