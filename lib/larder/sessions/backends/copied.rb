# frozen_string_literal: true

# Keeps sessions in a store that several machines share, and copies of them in a file on each machine.

require_relative "store"

module Larder
  module Sessions
    module Backends
      # The store decides what a session is, and every change is made there, as in a {Store}. A request finds its
      # session in the copy, which a LarderStore with `remote:` and `backplane:` keeps: each change removes the copies
      # of all machines.
      class Copied < Store
        # @param store [ActiveSupport::Cache::LarderStore] with remote: and backplane:
        def initialize(store)
          super
          @copies = store
          @name = "#{store.remote.store.class.name}, with copies on each machine"
        end

        # @param (see Single#read_copy)
        # @return (see Single#read_copy)
        def read_copy(key)
          bytes = @copies.read(name(key))
          bytes.b if bytes.is_a?(String)
        end

        # @return [void]
        # @raise [Larder::RemoteError] the store does not answer, or has not got all changes of this machine yet
        def check_answers
          return if @copies.remote.ready? && @copies.remote.answers?

          raise Larder::RemoteError, "#{self} cannot tell which sessions there are: the store does not answer, or " \
                                     "has not got all changes of this machine yet; try again"
        end

        private

        # While the store does not answer, nobody gives the lock back.
        def patient?(limit)
          super && @copies.remote.answers?
        end
      end
    end
  end
end
