# frozen_string_literal: true

# The other machines that share the remote store.

module Larder
  module Store
    class TwoLevels
      # Without a backplane nothing is sent, and copies are always trusted: they are used for a short time.
      # @api private
      class Machines
        # @param backplane [Remote::Backplane, nil]
        # @param cache [Larder::Cache]
        # @param failsafe [Failsafe]
        # @yieldparam listens [Boolean] each time that this process begins to listen, or ends
        def initialize(backplane, cache, failsafe, &listening)
          @backplane = backplane
          @cache = cache
          @failsafe = failsafe
          @listening = listening
        end

        # True if the copies of this machine may be used.
        # @return [Boolean]
        def trusted?
          return true unless @backplane

          @failsafe.guard(:read_entry, returning: false) { listen && @cache.trusted? }
        end

        # As {#trusted?}, without beginning to listen.
        # @return [Boolean]
        def trusted_now?
          @backplane.nil? || @cache.trusted?
        end

        # True if a process of this machine listens.
        # @return [Boolean, nil] nil: there is no backplane, or no process has used it yet
        def listener?
          @backplane&.listener?
        end

        # @return [Boolean] is there a backplane?
        def any?
          !@backplane.nil?
        end

        # @return [Boolean] as of Remote::Backplane
        def unsent?
          @backplane ? @backplane.unsent? : false
        end

        # A process makes sure from its first use on that one process of the machine listens to the backplane.
        #
        # @return [Boolean] does one?
        def listen
          return true unless @backplane

          listens = @backplane.listening? || start
          @listening.call(listens)
          listens
        end

        # Publishes that copies are old. A process that only changes entries listens, too: the listener repairs messages
        # that were lost.
        #
        # @param kind [Symbol] as of Remote::Backplane#publish
        # @param texts [Array<String>]
        # @return [void]
        def publish(kind, texts)
          return unless @backplane

          listen
          error = @backplane.publish(kind, texts)
          @failsafe.failed(:backplane, nil, error) if error
        end

        # Publishes a change of the journal, which was not in the remote store when it was made. A deletion of tags is
        # listed as one of their versions.
        #
        # @param kind [Symbol] as of Remote::Outbox::Journal#note
        # @return [void]
        def publish_applied(kind, texts)
          case kind
          when :delete
            publish(:keys, texts)
            tags = texts.filter_map { |text| TagVersions.name_of(text) }
            publish(:tags, tags.map { |name| TagTexts.own(name) }) if tags.any?
          when :clear then publish(:prefix, texts)
          else publish(:prefix, [""])
          end
        end

        private

        def start
          @backplane.start(@cache, ended: -> { @listening.call(false) }) do |error|
            @failsafe.failed(:backplane, nil, error)
          end
        end
      end
    end
  end
end
