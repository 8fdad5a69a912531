# frozen_string_literal: true

# How a Larder::Cache that was opened lazily attaches to its file, and how its last changes reach the file before the
# process ends. ext/larder/cache/attach.c calls the private methods.

require "shellwords"
require_relative "../monotonic_clock"

module Larder
  class Cache
    # A thread creates or opens the file, and calls wait for it. The disk may hang, and only a thread of its own lets
    # the caller stop waiting.
    # @api private
    module Attaching
      include MonotonicClock

      # A file has whole pages, so it is up to this much larger than the size it was made with.
      PAGE = 4096
      # Seconds that calls wait while the file is created or its disk hangs: in a web request, where the file is
      # required, and elsewhere.
      REQUEST_PATIENCE = 1
      REQUIRED_PATIENCE = 5
      PATIENCE = 60
      # Seconds that a process waits at its end, if it has changes that are not in the file.
      EXIT_PATIENCE = 5
      # Seconds for which a diagnosis of the file system is repeated.
      OBSTACLE_FOR = 1
      # Before the cause in the message of a change that was refused: the key.
      CHANGE = /\A.* could not be changed: /m
      # Seconds between two looks at a thread that attaches.
      LOOK = 0.01
      MAIN_RACTOR = Ractor.current
      private_constant :PAGE, :REQUEST_PATIENCE, :REQUIRED_PATIENCE, :PATIENCE, :EXIT_PATIENCE, :LOOK, :OBSTACLE_FOR,
                       :CHANGE, :MAIN_RACTOR

      @warned = {}
      @pending = {}.compare_by_identity

      # Warns that a file has another size than the configured one: once for each file and process, and each time in
      # other Ractors, which cannot share the memory of it.
      def self.warn_of_size(cache, size, from)
        if Ractor.current == MAIN_RACTOR
          return if @warned[[cache.path, size]]

          @warned[[cache.path, size]] = true
        end
        warn("#{from || Application.calling_line}: warning: larder: #{cache.path} has #{cache.size} bytes, not the " \
             "configured #{size}; the file's size is used. To change it: larder resize " \
             "#{Shellwords.escape(cache.path)} #{size} (--keep keeps what is in it).")
      end

      # Keeps a cache with changes that are not in its file until they are, and has the process apply them before it
      # ends. A forked child applies what it inherited, and reports only its own.
      def self.keep(cache)
        return unless Ractor.current == MAIN_RACTOR # others cannot share the list

        at_exit { apply_all } unless @applies_at_exit
        @applies_at_exit = true
        forget_applied
        @pending[cache] = Process.pid
      end

      # Hooks that run later at the end of the process may make changes, too: these are applied after them.
      def self.apply_all
        @applies_at_exit = false
        @pending.to_a.each do |cache, pid|
          cache.send(:apply_pending) { |line| Application.log(line) if pid == Process.pid }
        end
      end

      # Other threads may add and remove caches in between, so the list itself is not iterated.
      def self.forget_applied
        @pending.keys.each do |kept| # rubocop:disable Style/HashEachMethods -- a copy
          pid = @pending.delete(kept)
          @pending[kept] ||= pid if pid && kept.send(:pending?)
        end
      end
      private_class_method :apply_all, :forget_applied

      # Runs the block once there is a file: now, or within the first call that needs it.
      def when_attached(&block)
        @attached ? yield : @when_attached = block
      end

      # Closes the file; the last process that closes it writes it back. Changes that are not in the file yet are
      # applied first, or reported. Calls of other threads that are inside end first, later ones raise {ClosedError}. A
      # cache that is not closed is closed when it is collected or the process exits.
      # @return [nil] also where it was closed before
      # @example
      #   cache.close #=> nil
      def close
        apply_pending { |line| Application.log(line) }
        _close
      end

      # @api private
      # @return [OpenError, nil] why this process could not open or make the file when it last tried; nil: it did not
      #   try, or it has a file
      def refusal
        @refusal.exception(@refusal.message.sub(CHANGE, "")) unless _attached? || @refusal.nil?
      end

      # @api private
      # @return [Integer] bytes that a new file gets
      def wanted_size
        @wanted_size || Cache::DEFAULT_SIZE
      end

      private

      def opened(path, size, size_from, lazy)
        @path = path.freeze
        @wanted_size = size
        @size_from = size_from
        @required = lazy == :required
        attached unless lazy
      end

      # Called where a lazy cache needs its file.
      def await_file
        start_attaching unless @attaching&.alive?
        await(@attaching, patience)
      end

      def patience
        return REQUIRED_PATIENCE if @required

        WebRequest.current? ? REQUEST_PATIENCE : PATIENCE
      end

      # Waits for the thread. The time counts from its start in the engine: before that, it waits for other threads of
      # this process, not for a disk. It has attached the file before it can run again and end. An exception of another
      # thread, as of Timeout, ends the wait also where the caller defers it.
      def await(thread, seconds)
        until thread.nil? || thread.join(LOOK) || _attached? || Thread.pending_interrupt?
          break if @attaching_since && monotonic_now - @attaching_since > seconds
        end
      end

      def start_attaching
        @attaching_since = nil
        @attaching = Thread.new do
          @attaching_since = monotonic_now
          _attach
        end
        @attaching.report_on_exception = false # the thread that joins it raises that
      rescue ThreadError # the process may have no more threads
        _attach
      end

      # Called where a change was refused because there is no file: the engine has noted it.
      def keep_pending
        Attaching.keep(self) unless @required
      end

      def pending?
        !_pending.zero?
      end

      # Yields a line for the log if the changes could not be applied. Without a file there is nothing to change.
      def apply_pending
        return unless pending? && !gone?

        start_attaching unless @attaching&.alive?
        await(@attaching, EXIT_PATIENCE)
        return unless pending?

        count = _pending
        yield "larder: #{path}: this process could not apply #{count.negative? ? "a clear" : "#{count} changes"}; " \
              "as soon as the file can be used: larder clear #{Shellwords.escape(path)}"
      rescue ClosedError
        nil # another thread closes the cache, and applies the changes before
      end

      # False also if that cannot be seen.
      def gone?
        File.lstat(path) && false
      rescue Errno::ENOENT
        true
      rescue SystemCallError
        false
      end

      # Called once, when there is a file.
      def attached
        @attached = true
        if @wanted_size && !(0...PAGE).cover?(size - @wanted_size)
          Attaching.warn_of_size(self, @wanted_size, @size_from)
        end
        @when_attached&.call
      end

      # Called with each error that is raised because there is no file, as in every `fetch` of a page.
      def explained(error)
        now = monotonic_now
        @obstacle, @obstacle_until = Obstacle.at(path, error), now + OBSTACLE_FOR if now >= (@obstacle_until || now)
        @refusal = Obstacle.explained(error, @obstacle)
      end
    end
    private_constant :Attaching
  end
end
