# frozen_string_literal: true

# Tells other machines which copies they have to remove, and removes those that they name.

require "active_support/fork_tracker"
require "json"
require "securerandom"
require "larder/application"
require "larder/codecs/optional_gems"
require "larder/store/backplane/redis"
require "larder/store/backplane/postgresql"

module Larder
  module Store
    # One process of a machine, which has the lock of a file beside the cache, listens to the other machines and removes
    # what they name. When it dies, the kernel gives the lock to the next. In each process a thread waits for it.
    #
    # Every second the listener has an answer of the server, it says that copies are trusted for {TRUSTED} seconds. It
    # begins with an empty file, because it has not heard of what changed before. From when it has the lock until then
    # no copy is trusted. A process tries to get the lock at once when it uses the store for the first time.
    # @api private
    class Backplane
      TRUSTED = 3
      ROUND = 1
      # Bytes of a message: NOTIFY of PostgreSQL takes 8,000.
      LONGEST = 7000
      # Of the format of messages. What a later version sends is taken for: all copies are old.
      VERSION = 1
      ADAPTERS = { "redis" => Redis, "rediss" => Redis, "unix" => Redis, "postgres" => Postgresql,
                   "postgresql" => Postgresql }.freeze
      # What several threads tell by the same messages. Settled: other machines were told, or will be.
      Batch = Struct.new(:changes, :mutex, :settled)
      private_constant :TRUSTED, :ROUND, :LONGEST, :VERSION, :ADAPTERS, :Batch

      # @param given [String, Array<String>] the URL of a Redis, Valkey or PostgreSQL, or those of nodes of one cluster
      # @raise [ArgumentError] it is of none of these
      # @raise [Larder::MissingGemError]
      def self.adapter(given)
        urls = Array(given)
        types = urls.map { |url| ADAPTERS[url[/\A([a-z]+):/, 1]] if url.is_a?(String) }.uniq
        return made(types.first, urls) if types == [Redis] || (types == [Postgresql] && urls.one?)

        raise ::ArgumentError, "backplane: of LarderStore is #{given.inspect}; it takes the URL of a Redis or Valkey " \
                               "(redis://, rediss://, unix://) or of a PostgreSQL (postgresql://), or an Array of " \
                               "URLs of nodes of one Redis or Valkey cluster"
      end

      def self.made(type, urls)
        type.new(*urls)
      rescue URI::InvalidURIError, ::ArgumentError => e
        raise ::ArgumentError, "backplane: of LarderStore is no URL of a server: #{e.message}"
      end
      private_class_method :made

      # @param given [String, Array<String>] as of {.adapter}
      # @param path [String] of the file whose lock decides which process listens
      # @param remote [Remote]
      def initialize(given, path:, remote:)
        @adapter = Backplane.adapter(given)
        @path = path
        @remote = remote
        @channel = "larder:#{remote.namespace unless remote.namespace.respond_to?(:call)}"
        @mutex = Mutex.new
        @sending = Mutex.new
        @collecting = Mutex.new
        @batch = new_batch
        @machine = nil
      end

      # Does this process listen, or wait to be the one that does?
      # @return [Boolean, nil]
      def listening?
        @pid == Process.pid && @thread&.alive?
      end

      # Listens from now on, if this process is the one that has to.
      #
      # @param cache [Larder::Cache] with the copies
      # @param forked [#call] called in a child process, which does not listen
      # @yieldparam error [StandardError] told of errors
      # @return [Boolean] false: there can be no thread, as in the handler of a signal
      def start(cache, forked: nil, &report)
        @mutex.synchronize do
          next true if listening?

          @pid = Process.pid
          @cache = cache
          @report = report
          follow_forks(forked)
          has_lock = try_lock
          @thread = Thread.new { listen(has_lock) }.tap do |thread|
            thread.name = "larder-backplane"
            thread.report_on_exception = false
          end
          true
        end
      rescue ThreadError
        false
      end

      # Ends listening, for tests and for programs that close the cache.
      # @return [void]
      def stop
        @thread&.kill&.join
        @replaying&.kill&.join
        release
      end

      # Tells the other machines that copies are old: of keys, of tags, or of all keys that start with a text.
      #
      # If the server does not answer, the others find that out by themselves, unless only this machine cannot reach
      # it. So the listener tells them as soon as it can that all copies are old, and until then nobody waits for the
      # server.
      #
      # While a thread waits for the server's answer, the changes of others are collected, and one of them sends all
      # (group commit: DeWitt et al., "Implementation techniques for main memory database systems", 1984).
      #
      # @param kind [Symbol] keys, tags or prefix
      # @param texts [Array<String>]
      # @return [void]
      def publish(kind, texts)
        batch = joined(kind, texts)
        error = batch.mutex.synchronize { failure_of(batch) unless batch.settled }
        @report&.call(error) if error
      ensure
        @remote.journal.unsent = true unless batch&.settled # after an exception of another thread
      end

      private

      # @return [Batch] which the change is part of
      def joined(kind, texts)
        @collecting.synchronize { @batch.tap { |batch| batch.changes << [kind, texts] } }
      end

      # Sends a batch, unless the listener is going to say that all copies are old. Changes that are told from then on
      # are of the next batch.
      #
      # @return [StandardError, nil] why the messages could not be sent
      def failure_of(batch)
        error = @sending.synchronize do
          @collecting.synchronize { @batch = new_batch if @batch.equal?(batch) }
          listening? && @remote.journal.unsent? ? nil : failure_to_send(batch.changes)
        end
        batch.settled = true
        error
      end

      def new_batch
        Batch.new([], Mutex.new)
      end

      def failure_to_send(changes)
        messages(changes).each { |message| @adapter.publish(@channel, message) }
        nil
      rescue *@adapter.errors => e
        @remote.journal.unsent = true
        e
      end

      def messages(changes)
        changes.group_by(&:first).flat_map do |kind, of_kind|
          parts(of_kind.flat_map(&:last).uniq).map { |part| JSON.generate([VERSION, machine, kind, part]) }
        end
      end

      # @return [Enumerable<Array<String>>] of which each fits into a message
      def parts(texts)
        bytes = 0
        texts.map { |text| [text].pack("m0") }.slice_when do |before, text|
          bytes += before.bytesize + 4
          (bytes + text.bytesize > LONGEST).tap { |is_full| bytes = 0 if is_full }
        end
      end

      # Own messages are ignored: what this machine has written is in its file.
      def machine
        @machine ||= @remote.journal.machine
      end

      def listen(has_lock)
        wait_for_lock unless has_lock
        loop do
          attend
        rescue *@adapter.errors => e
          @report.call(e)
          alone
          sleep(ROUND)
        end
      end

      # A child process must not keep the lock when its parent dies.
      def follow_forks(forked)
        release
        @forks = ActiveSupport::ForkTracker.after_fork do
          @lock&.close
          forked&.call
        end
      end

      def try_lock
        lock(File::LOCK_EX | File::LOCK_NB)
      rescue SystemCallError
        false # the thread reports that
      end

      def wait_for_lock
        lock(File::LOCK_EX)
      rescue SystemCallError => e
        @report.call(e)
        sleep(ROUND)
        retry
      end

      # Nobody has heard of what changed until now.
      #
      # @return [Boolean] has this process the lock?
      def lock(how)
        @lock ||= File.open(@path, File::RDWR | File::CREAT, 0o600)
        return false unless @lock.flock(how)

        begin
          @cache.trust_for(0)
        rescue Larder::Error
          nil # there is no file, and no copy
        end
        true
      end

      def release
        ActiveSupport::ForkTracker.unregister(@forks) if @forks
        @lock&.close
        @lock = @forks = nil
      end

      def attend
        @adapter.listen(@channel, ROUND) do |event, message|
          case event
          when :begun then @cache.clear # what was changed before is not known
          when :message then receive(message)
          end
          @cache.trust_for(TRUSTED)
          tell_the_unsent
          replay
        end
      end

      # Applies what the journal lists, also if the application makes no call. In a thread of its own, as the listener
      # must not wait for the remote store.
      def replay
        return if @replaying&.alive? || @remote.journal.empty?

        @replaying = Thread.new do
          executor = Application.executor # gives connections to a database back
          executor ? executor.wrap { @remote.ready? } : @remote.ready?
        rescue RemoteError
          nil # the next call reports it
        end
        @replaying.report_on_exception = false
      rescue Larder::Error, ThreadError
        nil # the same
      end

      # What is changed from now on is told by who changes it.
      def tell_the_unsent
        return unless @remote.journal.unsent?

        @sending.synchronize do
          @remote.journal.unsent = false
          failure_to_send([[:prefix, [""]]])
        end
      end

      def receive(message)
        version, machine, kind, texts = JSON.parse(message)
        return if machine == self.machine

        version == VERSION ? drop(kind, texts.map { |text| text.unpack1("m0") }) : @cache.clear
      rescue JSON::ParserError, ArgumentError, TypeError, NoMethodError
        @cache.clear # whatever it says
      end

      def drop(kind, texts)
        case kind
        when "keys" then @cache.delete_multi(texts)
        when "tags" then @cache.delete_tagged(*texts)
        else texts.each { |prefix| prefix.empty? ? @cache.clear : @cache.delete_tagged(prefix) }
        end
      end

      # Nobody tells this machine of changes. If the remote store does not answer either, the copies are all there is;
      # they end after local_expires_in.
      def alone
        @remote.answers? ? @cache.trust_for(0) : @cache.trust_for(TRUSTED)
      end
    end
  end
end
