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
      #
      # An end that the store has not got is listed, and may be applied after another machine has renewed the session.
      # So a renewal leaves an entry {LATE} with the new key, and the listed end ends the session under that key, too.
      class Shared < Store
        # The prefix of entries with the new keys of a session.
        LATE = "l/"
        # The name of a session's entry, up to its key, and that of its new keys.
        SESSION = /(?<=\A|:)#{PREFIX}#{"s/".unpack1("H*")}(?=\h+\z)/
        NEXT = "#{PREFIX}#{LATE.unpack1("H*")}".freeze
        private_constant :SESSION, :NEXT

        # @param store [ActiveSupport::Cache::LarderStore] with remote:
        # @param copies [Boolean] has it a backplane:, too?
        def initialize(store, copies:)
          super(store)
          @store = Direct.new(store, kept: true) # a change that is refused leaves the session as it was
          @larder = store
          @copies = copies
          store.remote.when_applied { |kind, texts| follow(texts) if kind == :delete }
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

        # @param (see Single#late?)
        # @return (see Single#late?)
        def late?
          true
        end

        # @param (see Single#read_surely)
        # @return (see Single#read_surely)
        # @raise (see Single#read_surely)
        def read_surely(key)
          @larder.remote.read(listed_name(key), raw: true)&.value
        end

        # @param (see Single#end_later)
        # @return [void]
        def end_later(key)
          @larder.remote.journal.note(:delete, [listed_name(key)])
        end

        # @param (see Single#refused)
        # @raise [Larder::RemoteError]
        def refused(what)
          raise Larder::RemoteError, "#{self} did not take #{what}: the store does not answer, or takes no writes; " \
                                     "try again"
        end

        private

        # As the journal lists it.
        def listed_name(key)
          @larder.remote.own_key(name(key))
        end

        # A delete is listed, as others wait to be applied, and is followed in turn.
        #
        # @param texts [Array<String>] of deletes that were listed, and are applied
        # @return [void]
        # @raise [Larder::RemoteError]
        def follow(texts)
          texts.grep(SESSION).each do |text|
            keys = @larder.remote.read_listed(text.sub(SESSION, NEXT)).to_s
            (0...keys.bytesize).step(Users::KEY) { |at| @larder.delete(name("s/#{keys.byteslice(at, Users::KEY)}")) }
          end
        end

        # While the store does not answer, nobody gives the lock back.
        def patient?(limit)
          super && @larder.remote.answers?
        end
      end
    end
  end
end
