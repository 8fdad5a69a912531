# frozen_string_literal: true

# Keeps sessions in a store that several machines share, and perhaps copies of them in a file on each machine.

require_relative "remote"
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
        # The prefix of what is listed as deleted together with a session that has ended, unlike one that goes on under
        # another key. The store never has an entry of that name.
        ENDED = "e/"
        # The name of such an entry, up to its key, and that of the session's new keys.
        MARK = /(?<=\A|:)#{PREFIX}#{"#{ENDED}s/".unpack1("H*")}(?=\h+\z)/
        NEXT = "#{PREFIX}#{LATE.unpack1("H*")}".freeze
        private_constant :ENDED, :MARK, :NEXT

        # @param store [ActiveSupport::Cache::LarderStore] with remote:
        # @param copies [Boolean] has it a backplane:, too?
        # @param request [#call] returns the env of the current request, or nil
        def initialize(store, copies:, request: -> {})
          @larder = store
          @copies = copies
          store.remote.outbox.when_applied { |kind, texts| follow(texts) if kind == :delete }
          @name = "#{store.remote.store.class.name}#{", with copies on each machine" if copies}"
          @calls = Calls.new(@name, report: method(:report), request: request,
                                    give_up: store.remote.outbox.method(:give_up))
          @store = Remote.new(store, @calls)
        end

        # @param (see Single#read_copy)
        # @return (see Single#read_copy)
        def read_copy(key)
          return unless @copies

          bytes = copy(key)
          bytes unless ended?(bytes) { copy(Logouts::EPOCH, at_once: true)&.to_i || return }
        rescue UnavailableError # of a request that has waited long enough
          nil
        end

        # @param (see Single#late?)
        # @return (see Single#late?)
        def late?
          true
        end

        # @param (see Single#end_later)
        # @return [void]
        def end_later(key)
          @larder.remote.outbox.note(:delete, [key, ENDED + key].map { |one| @larder.remote.own_key(name(one)) })
        end

        # The store is called to delete the session, or that is listed for later. A mark that could not be written is
        # not needed then: before it applies what is listed, a machine does not ask the store.
        #
        # @param (see File#delete)
        # @return [Boolean] was it there? true also if that is unknown
        def delete(key)
          super
        rescue UnavailableError
          true
        ensure
          end_later(key) if @store.listed?(name(key))
        end

        # The server of the store compares. Only an unusual store with backplane: cannot do that.
        #
        # @param (see Store#swap)
        # @return (see Store#swap)
        # @raise (see Store#swap)
        def swap(key, expected, bytes, ttl, pin: false)
          return super unless @store.swaps?

          outcome = @store.swap(name(key), expected, bytes, ttl)
          outcome || raise(UnansweredError.new(@name, "it did not answer a change"))
        end

        # @param (see Single#discard)
        # @return (see Single#discard)
        def discard(key)
          @store.delete(name(key))
          true
        end

        # @return (see Single#remote_stats)
        def remote_stats
          figures = @larder.stats[:remote]
          @copies ? figures : figures.except(:trusted)
        end

        private

        def copy(key, at_once: false)
          bytes = @calls.call(at_once: at_once) { @larder.read(name(key)) }
          bytes.b if bytes.is_a?(String)
        end

        # A delete is listed, as others wait to be applied, and is followed in turn.
        #
        # @param texts [Array<String>] of deletes that were listed, and are applied
        # @return [void]
        # @raise [Larder::RemoteError]
        def follow(texts)
          texts.grep(MARK).each do |text|
            keys = @larder.remote.read_listed(text.sub(MARK, NEXT)).to_s
            (0...keys.bytesize).step(Users::KEY) { |at| end_now("s/#{keys.byteslice(at, Users::KEY)}") }
          end
        end

        # While listed changes are applied, others are only listed.
        def end_now(key)
          @larder.delete(name(key))
          end_later(key)
        end

        # As LarderStore reports an outage, so that it is one cause for both.
        def report(error)
          ::Larder::Store::Failsafe::DEFAULT_ERROR_HANDLER.call(method: :sessions, returning: nil, exception: error)
        end
      end
    end
  end
end
