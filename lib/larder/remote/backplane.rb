# frozen_string_literal: true

# Tells other machines which copies they have to remove, and removes those that they name.

require "larder/remote/backplane/address"
require "larder/remote/backplane/listener"
require "larder/remote/backplane/message"
require "larder/remote/backplane/batches"

module Larder
  module Remote
    # All machines of a server have one channel, whatever their namespaces are: messages have whole keys.
    #
    # If a message cannot be sent within {DEADLINE} seconds, the journal gets a mark. Until it is removed, no call of
    # the machine waits for the server. The listener says as soon as it can that all copies are old, and removes the
    # mark. If that process ends before, another one of the machine does so, or the next.
    # @api private
    class Backplane
      # Also of later versions: a message says which version it is of.
      CHANNEL = "larder"
      private_constant :CHANNEL

      # @param address [Address]
      # @param path [String] of the file whose lock decides which process listens
      # @param remote [Remote::Client]
      # @raise (see Address#server)
      def initialize(address, path:, remote:)
        @address = address
        @server = address.server
        @path = path
        @journal = remote.outbox.journal
        @batches = Batches.new
        @telling = Errand.new { tell_all }
        @listener = Listener.new(@server, path: path, remote: remote, telling: @telling)
      end

      # True if this process listens, or waits to be the one that does.
      # @return [Boolean, nil]
      def listening?
        @listener.alive?
      end

      # True if any process of this machine listens.
      # @return [Boolean, nil] (see Listener.at?)
      def listener?
        Listener.at?(@path)
      end

      # @return [Boolean] are there changes that the other machines do not know?
      def unsent?
        !@journal.unsent.nil?
      end

      # Listens from now on, if this process is the one that has to.
      #
      # @param (see Listener#start)
      # @yieldparam error [Larder::Error] for reports
      # @return (see Listener#start)
      def start(cache, ended:)
        @listener.start(cache, ended: ended) { |error| yield failure(error) }
      end

      # Ends listening, for tests and for programs that close the cache.
      # @return [void]
      def stop
        @listener.stop
        @telling.stop
      end

      # Tells the other machines that copies are old: of keys, of tags, or of all keys that start with a text.
      #
      # @param kind [Symbol] keys, tags or prefix
      # @param texts [Array<String>]
      # @return [Larder::RemoteError, nil] why the server was not told, once for all changes that wait for it
      def publish(kind, texts)
        told_later? ? postpone : send_with_others([kind, texts])
      end

      # @return [String] without passwords
      def inspect
        "#<#{self.class.name} #{@address.inspect}>"
      end

      private

      # True if the server is known to fail, and a thread will say that all copies are old.
      def told_later?
        listening? && @journal.unsent
      end

      # Each change renews the mark, as a message about those before it may be under way.
      def postpone
        @telling.start unless @journal.unsent! # only this process knows
        nil
      end

      # @return [Larder::RemoteError, nil]
      def send_with_others(change)
        deadline = Deadline.in(DEADLINE)
        error = nil
        settled = @batches.put(change, deadline) { |changes| error = try_to_send(changes, deadline) }
        failure(error) if error
      rescue ThreadError => e
        failure(e)
      ensure
        @journal.unsent! unless settled # also after an exception of another thread
      end

      # @return [StandardError, nil]
      def try_to_send(changes, deadline)
        return postpone if told_later?

        sent = false
        send_all(changes, deadline)
        sent = true
        nil
      rescue *@server.errors => e
        e
      ensure
        @journal.unsent! if sent == false
      end

      def send_all(changes, deadline)
        @server.publish(CHANNEL, Message.encode(@journal.machine, changes), deadline)
      end

      # In the errand's thread. A change after the mark was read has another mark.
      def tell_all
        deadline = Deadline.in(DEADLINE)
        @batches.alone(deadline) do
          next unless (mark = @journal.unsent)

          send_all([Message::EVERYTHING], deadline)
          @journal.sent(mark)
        end
      rescue *@server.errors, Larder::Error # the latter is of the journal
        nil # the mark stays, and the failure of the change was reported
      end

      def failure(error)
        return error if error.is_a?(Larder::Error)

        RemoteError.new("the backplane does not answer: #{error.class}: #{@address.hide(error.message)}")
      end
    end
  end
end
