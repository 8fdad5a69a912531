# frozen_string_literal: true

# How a Larder::Cache that was opened lazily comes to its file. ext/larder/cache/attach.c calls the private methods.

require "shellwords"

module Larder
  class Cache
    # Another thread makes or opens the file. Each call waits for it until that thread has had some time: it may wait
    # for a disk, and a miss is better for a request than that.
    # @api private
    module Attaching
      # A file has whole pages, so it is up to this much larger than the size it was made with.
      PAGE = 4096
      # Seconds that calls wait for a lazy cache to attach.
      WAIT = 0.01
      # The same in tests and consoles, which often read at once what they write, and where the file is required.
      LONG_WAIT = 5
      WAITING_ENVIRONMENTS = %w[development test].freeze
      # Seconds for which a diagnosis of the file system is repeated.
      OBSTACLE_FOR = 1
      # Seconds between two looks of who waits for longer.
      LOOK = 0.001
      MAIN_RACTOR = Ractor.current
      private_constant :PAGE, :WAIT, :LONG_WAIT, :LOOK, :WAITING_ENVIRONMENTS, :OBSTACLE_FOR, :MAIN_RACTOR

      @warned = {}

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

      # Runs the block once there is a file: now, or within the first call that needs it.
      def when_attached(&block)
        @attached ? yield : @when_attached = block
      end

      # Waits while another thread of this process, or another process, makes or opens the file.
      #
      # @param seconds [Numeric] at most
      def await_attaching(seconds)
        deadline = monotonic_time + seconds
        until @attached || monotonic_time >= deadline
          if @attaching&.alive? then sleep(LOOK)
          elsif @attaching&.value then start_attaching
          else break
          end
        end
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
      def attach_in_background
        start_attaching unless @attaching&.alive?
        @attaching&.join([@attach_deadline - monotonic_time, 0].max)
      end

      def start_attaching
        waits = @required || WAITING_ENVIRONMENTS.include?(Application.environment)
        @attach_deadline = monotonic_time + (waits ? LONG_WAIT : WAIT)
        @attaching = Thread.new { _attach }
        @attaching.report_on_exception = false # the thread that joins it raises that
      rescue ThreadError # the process may have no more threads
        _attach
      end

      def monotonic_time
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
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
        now = monotonic_time
        @obstacle, @obstacle_until = Obstacle.at(path), now + OBSTACLE_FOR if now >= (@obstacle_until || now)
        Obstacle.explained(error, @obstacle)
      end
    end
    private_constant :Attaching
  end
end
