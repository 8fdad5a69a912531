# frozen_string_literal: true

# The figures of a store with `remote:`: what waits for it, whether copies are trusted, and who listens.

require_relative "../bytes/companions"
require_relative "../remote/outbox"
require_relative "../remote/backplane"

module Larder
  class Metrics
    # Asks no server. The journal is read as a file, which the processes of the machine share, and is not made.
    # @api private
    class RemoteFigures
      # Changes are counted up to this number, as the journal can list 48,000.
      MOST = 1000

      # @param source [Source]
      def initialize(source)
        @source = source
        @path = source.path
        @machines = source.store.level.machines if source.store&.remote
      end

      # @return [Hash{String=>Integer}] by id; empty: no store with `remote:` has used the path
      def read
        return {} unless @machines || journal?

        { "remote.waiting" => number(waiting?), "remote.trusted" => number(trusted?),
          "remote.listener" => number(listener?), **listed }.compact
      end

      # @return [Float, nil] seconds that a change has waited for the remote store; nil: none waits, or the file system
      #   does not know
      def waiting_for
        began = marks.filter_map { |mark| File.birthtime(mark) }.min
        [Time.now - began, 0.0].max if began
      rescue Errno::ENOENT, NotImplementedError
        nil
      end

      # @return [Boolean] has the remote store not got a change?
      def waiting?
        marks.any? || (journal? && listed.empty?)
      end

      # @return [Boolean, nil] nil: not known outside of the application, and before the first use, as it makes the file
      def trusted?
        @machines.trusted_now? if @machines && File.exist?(@path)
      rescue Error
        nil
      end

      # Outside of the application all configurations that have used the path are looked at.
      #
      # @return [Boolean, nil] nil: there is no backplane, or no process has used it yet
      def listener?
        return @machines.listener? if @machines

        locks = companions.keys.grep(/\.backplane\.\h{16}\z/)
        locks.any? { |lock| Remote::Backplane::Listener.at?(lock) } if locks.any?
      end

      private

      def journal
        Companions.journal(@path)
      end

      def journal?
        companions.key?(journal)
      end

      def companions
        @companions ||= Companions.of(@path)
      end

      # A file that is there as long as a remote store has not got all changes.
      def marks
        companions.keys.select { |file| file.end_with?(".pending") }
      end

      # A change is listed for each remote store that is in use.
      def listed
        @listed ||= journal? ? @source.journal.read(journal) { |cache| listed_in(cache) } : {}
      rescue Error
        @listed = {} # the journal cannot be used, so the remote store is not read
      end

      def listed_in(cache)
        lists = Remote::Outbox::Lists.new(cache)
        remotes = Remote::Outbox::Members.new(cache).remotes
        { "outbox.changes" => remotes.map { |remote| lists.size(remote, at_most: MOST) }.max || 0,
          "outbox.overflown" => number(remotes.any? { |remote| lists.overflown(remote) }) }
      end

      def number(boolean)
        { true => 1, false => 0 }[boolean]
      end
    end
  end
end
