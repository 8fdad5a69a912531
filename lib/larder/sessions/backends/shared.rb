# frozen_string_literal: true

# Keeps sessions in a store that several machines share, and perhaps copies of them in a file on each machine.

require_relative "store"

module Larder
  module Sessions
    module Backends
      # The store decides what a session is, and every change is made there, as in a {Store}, by a LarderStore with
      # `remote:`. So a store that does not answer is known, and what has ended until then is ended there when it does.
      #
      # With `backplane:` a request finds its session in a copy, and each change removes the copies of all machines.
      class Shared < Store
        # @param store [ActiveSupport::Cache::LarderStore] with remote:
        # @param copies [Boolean] has it a backplane:, too?
        def initialize(store, copies:)
          super(store)
          @store = Direct.new(store, kept: true) # a change that is refused leaves the session as it was
          @larder = store
          @copies = copies
          @name = "#{store.remote.store.class.name}#{", with copies on each machine" if copies}"
        end

        # @param (see Single#read_copy)
        # @return (see Single#read_copy)
        def read_copy(key)
          bytes = @larder.read(name(key)) if @copies
          bytes.b if bytes.is_a?(String)
        end

        # @return [void]
        # @raise [Larder::RemoteError] the store does not answer, or has not got all changes of this machine yet
        def check_answers
          return if @larder.remote.ready? && @larder.remote.answers?

          raise Larder::RemoteError, "#{self} cannot tell which sessions there are: the store does not answer, or " \
                                     "has not got all changes of this machine yet; try again"
        end

        # @param (see Single#refused)
        # @raise [Larder::RemoteError]
        def refused(what)
          raise Larder::RemoteError, "#{self} did not take #{what}: the store does not answer, or takes no writes; " \
                                     "try again"
        end

        private

        # While the store does not answer, nobody gives the lock back.
        def patient?(limit)
          super && @larder.remote.answers?
        end
      end
    end
  end
end
