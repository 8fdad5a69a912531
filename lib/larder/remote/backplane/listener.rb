# frozen_string_literal: true

# The thread that listens to other machines and removes the copies that they name.

require "active_support/fork_tracker"
require "larder/bytes/application"
require "larder/bytes/companions"
require "larder/bytes/obstacle"
require "larder/codecs/reports"
require "larder/remote/backplane/deadline"
require "larder/remote/backplane/errand"
require "larder/remote/backplane/message"

module Larder
  module Remote
    class Backplane
      # One process of a machine, which has the lock of a file next to the cache, listens. When it dies, the kernel
      # gives the lock to the next. In each process a thread waits for it. The first call of a process tries to get it
      # at once.
      #
      # The listener begins with an empty file, because it does not know earlier changes. From when it has the lock
      # until then no copy is trusted. Every second it asks the server for an answer. Then copies are trusted for
      # {TRUSTED} seconds from when it has asked: all messages that came before the answer are handled.
      #
      # After any error it begins again. However the thread ends, it gives the lock back, and no copy
      # is trusted until another one listens. The next call of the process starts another thread.
      # @api private
      class Listener
        TRUSTED = 3
        # Seconds between two attempts.
        PAUSE = 1
        # Seconds between two looks whether there is the directory of the file.
        LOOK = 0.05
        private_constant :TRUSTED, :PAUSE, :LOOK

        # Looks at the lock from outside. It has the lock for a moment, shared with others that look: a process that
        # tries to get it at that moment waits for it.
        #
        # @param path [String] of the file whose lock decides which process listens
        # @return [Boolean, nil] true if a process has the lock; nil: there is no such file, or it cannot be read
        def self.at?(path)
          File.open(path, File::RDONLY | File::NOFOLLOW) do |file|
            free = file.flock(File::LOCK_SH | File::LOCK_NB)
            file.flock(File::LOCK_UN) # a process that was forked since then has the same lock
            !free
          end
        rescue SystemCallError
          nil
        end

        # @param server [Server]
        # @param path [String] of the file whose lock decides which process listens
        # @param remote [Remote::Client]
        # @param telling [Errand] says that all copies are old, if a message could not be sent
        def initialize(server, path:, remote:, telling:)
          @server = server
          @path = path
          @remote = remote
          @telling = telling
          @replaying = Errand.new { Application.in_executor { apply_journal } }
          @mutex = Mutex.new
        end

        # True if this process listens, or waits to be the one that does.
        # @return [Boolean, nil]
        def alive?
          @pid == Process.pid && @thread&.alive?
        end

        # @param cache [Larder::Cache] with the copies
        # @param ended [#call] called when this process no longer listens, and in a child process, which does not
        # @yieldparam error [StandardError] for reports
        # @return [Boolean] false: there can be no thread, as in the handler of a signal
        def start(cache, ended:, &report)
          @mutex.synchronize do
            next true if alive?

            @cache, @ended, @report = cache, ended, report
            adopt
            take_lock(File::LOCK_EX | File::LOCK_NB)
            @thread = Thread.new { run }
            @thread.name = "larder-backplane"
            true
          end
        rescue ThreadError
          false
        end

        # @return [void]
        def stop
          @thread&.kill&.join
          @replaying.stop
          ActiveSupport::ForkTracker.unregister(@forks) if @forks
          @thread = @forks = nil
        end

        private

        # A child process must not keep the lock when its parent dies.
        def adopt
          @server.forget_parents
          ActiveSupport::ForkTracker.unregister(@forks) if @forks
          drop_lock
          @pid = Process.pid
          @forks = ActiveSupport::ForkTracker.after_fork do
            @server.forget_parents
            drop_lock
            @ended.call
          end
        end

        def run
          loop { follow }
        ensure
          withdraw
          drop_lock
          @ended.call
        end

        # Any error of the server, of a file or of the application's code.
        def follow
          await_directory
          take_lock(File::LOCK_EX)
          listen
        rescue StandardError => e
          report(e)
          reporting { alone } if @locked
          reporting { keep_up }
          sleep(PAUSE)
        end

        # The cache makes it, and reports why it cannot.
        def await_directory
          sleep(LOOK) until File.directory?(File.dirname(@path))
        end

        def take_lock(how)
          return if @locked

          @lock ||= Companions.open(@path, File::RDWR)
          @locked = @lock.flock(how) ? true : false
          withdraw
        rescue SystemCallError => e
          raise explained(e) unless how.anybits?(File::LOCK_NB) # the thread reports it
        end

        def explained(error)
          Obstacle.explained(OpenError.new("this process cannot listen to the backplane: #{error.message}"),
                             Obstacle.at(@path, error, locked: false))
        end

        def drop_lock
          @lock&.close
          @lock = @locked = nil
        end

        # Changes until now are not known.
        def withdraw
          @cache.trust_for(0) if @locked
        rescue Larder::Error
          nil # without a file there are no copies
        end

        def listen
          @server.listen(CHANNEL) do |event, detail|
            case event
            when :begun then @cache.clear # earlier changes are not known
            when :message then receive(detail)
            when :answered
              trust(detail)
              reporting { keep_up }
            end
          end
        end

        # The process may have been stopped since then, for any time.
        def trust(since)
          @cache.trust_for(TRUSTED, since: since)
        end

        # The machine's own messages are ignored: what it has written is in its file.
        def receive(message)
          machine, kind, texts = Message.decode(message)
          drop(kind, texts) unless machine == @remote.outbox.machine
        rescue Larder::Error
          @cache.clear # a text is too long, or the file is busy
        end

        def drop(kind, texts)
          case kind
          when :keys then @cache.delete_multi(texts)
          when :tags then @cache.delete_tagged(*texts)
          else texts.each { |prefix| prefix.empty? ? @cache.clear : @cache.delete_tagged(prefix) }
          end
        end

        # This machine learns nothing of changes. If the remote store does not answer either, the copies are all there
        # is; they end after local_expires_in.
        def alone
          since = Deadline.moment
          Application.in_executor { @remote.answers? } ? @cache.trust_for(0) : trust(since)
        end

        # Repairs lost messages, and applies what the journal lists, also if the application makes no call.
        def keep_up
          journal = @remote.outbox.journal
          @telling.start if journal.unsent
          @replaying.start if journal.due?
        rescue Larder::Error
          nil # the journal cannot be opened, which the next call reports
        end

        def apply_journal
          @remote.outbox.ready?
        rescue RemoteError
          nil # the next call reports it
        end

        def reporting
          yield
        rescue StandardError => e
          report(e)
        end

        # An error handler may raise, and a store with raise_errors: true does.
        def report(error)
          @report.call(error)
        rescue StandardError => e
          Reports.report(e, source: Reports::STORE)
        end
      end
    end
  end
end
