# frozen_string_literal: true

require "rbconfig"
require "socket"
require_relative "../clock"
require_relative "../contenders"
require_relative "../errors"
require_relative "../gemfiles"

module Larder
  module Lab
    module Bench
      # Waits for the end of a process that the lab has started, and says why it ended. For classes with the instance
      # variables `@pid` of the process and `@log`, the path of everything that it prints.
      module ChildProcess
        include Clock

        # Seconds that a process has for leaving after its input has ended.
        PATIENCE = 5

        private

        def cause_of_death
          signal = reap.to_i
          how = signal.positive? ? "was killed by signal #{signal}" : "ended early"
          [how, last_words].compact.join(": ")
        end

        # The first thing it printed, without the place that Ruby puts before a message. Bundler's message is on the
        # line after that.
        def last_words
          said = File.exist?(@log) ? File.read(@log, encoding: "UTF-8").scrub : ""
          lines = said.lines.map { |line| line.strip.sub(/\A\S+:\d+:in [`'].*?': */, "") }
          lines.find { |line| line.match?(/\w/) && !line.match?(/\A\([\w:]+\)\z/) }
        end

        # Ends the process by force if it does not leave.
        def end_process
          return if reap

          kill
          reap
        rescue Errno::ECHILD
          nil
        end

        def kill
          Process.kill(:KILL, @pid)
        rescue Errno::ESRCH
          nil
        end

        # The number of the signal that ended it, 0 without one; nil if it still runs after {PATIENCE}.
        def reap
          limit = now + PATIENCE
          until @signal || now > limit
            pid, status = Process.wait2(@pid, Process::WNOHANG)
            pid ? @signal = status.termsig.to_i : sleep(0.005)
          end
          @signal
        end
      end

      # A process that has loaded the lab, Rails and what a suite needs, once for all rows of a session with the same
      # Gemfile; {Preload} is its other side.
      class Preloader
        include ChildProcess

        SCRIPT = File.expand_path("preload.rb", __dir__)
        LIBRARY = File.expand_path("../../..", __dir__)
        # The heap is that of a process that has run for hours, from the beginning. glibc: freed memory stays with the
        # process; else a collection of garbage gives it back, or does not where a live object lies above it, and the
        # same allocations cost one row page faults and spare another. Ruby: the sizes of new memory after which it
        # collects garbage have grown to Ruby's own limits; else they grow with what a row has allocated so far.
        WARM_HEAP = { "MALLOC_TRIM_THRESHOLD_" => (1 << 30).to_s, "MALLOC_MMAP_THRESHOLD_" => (1 << 25).to_s,
                      "RUBY_GC_MALLOC_LIMIT" => (32 << 20).to_s, "RUBY_GC_OLDMALLOC_LIMIT" => (128 << 20).to_s }.freeze

        # Those of a session, each started when its first row is.
        class Group
          # Their logs are in `dir`.
          def initialize(suite, dir)
            @suite = suite
            @dir = dir
            @lock = Mutex.new
            @preloaders = {}
          end

          def for(type, bundle = type.bundle)
            @lock.synchronize do
              @preloaders[bundle] ||= Preloader.new(@suite, type, log: File.join(@dir, "preload-#{bundle}.log"),
                                                                  gemfile: Gemfiles.path(bundle))
            end
          end

          def stop = @preloaders.each_value(&:stop)
        end

        # `type` is one of the rows with its Gemfile (nil: that of this process). It works in the directory of `log`.
        def initialize(suite, type, log:, gemfile: nil)
          @log = log
          @lock = Mutex.new
          @socket, other = UNIXSocket.pair
          environment = { **WARM_HEAP, **({ "BUNDLE_GEMFILE" => gemfile } if gemfile).to_h }
          @pid = Process.spawn(environment, RbConfig.ruby, "-I", LIBRARY, SCRIPT, suite, type.key, in: other,
                               out: [@log, "a"], err: [@log, "a"], chdir: File.dirname(log), pgroup: true)
          other.close
        end

        # Forks a worker, once everything is loaded.
        def hand_over(*streams)
          @lock.synchronize { streams.each { |stream| @socket.send_io(stream) } }
        rescue Errno::EPIPE, Errno::ECONNRESET
          nil # it died; the worker's first answer is missing then
        end

        # How it ended.
        def cause = cause_of_death

        def stop
          @socket.close
          end_process
        end
      end
    end
  end
end
