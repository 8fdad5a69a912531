# frozen_string_literal: true

# Runs a worker process for the command: starts it, gives it its job, passes its events on, and ends it in every case.
# Knows nothing of what the process measures.

require "json"
require "rbconfig"
require_relative "child_process"
require_relative "errors"
require_relative "reference"
require_relative "yjit"

module Larder
  module Lab
    # One run of a worker in a process of its own.
    class WorkerProcess
      include ChildProcess

      LIBRARY = File.expand_path("../..", __dir__)

      # The heap is that of a process that has run for hours, from the beginning. glibc: freed memory stays with the
      # process; else a collection of garbage gives it back, or does not where a live object lies above it, and the
      # same allocations cost one contender page faults and spare another. Ruby: the sizes of new memory after which it
      # collects garbage have grown to Ruby's own limits; else they grow with what a contender has allocated so far.
      WARM_HEAP = { "MALLOC_TRIM_THRESHOLD_" => (1 << 30).to_s, "MALLOC_MMAP_THRESHOLD_" => (1 << 25).to_s,
                    "RUBY_GC_MALLOC_LIMIT" => (32 << 20).to_s, "RUBY_GC_OLDMALLOC_LIMIT" => (128 << 20).to_s }.freeze

      # @param job [Hash] what the worker reads
      # @param dir [String] working directory
      # @param log [String] file for everything it prints
      # @param gemfile [String, nil] the Gemfile it resolves its gems with; nil: the one of this process
      # @param timeout [Numeric] seconds after which it counts as hung
      # @param script [String] the program
      def initialize(job, dir:, log:, timeout:, script:, gemfile: nil)
        @job = job
        @dir = dir
        @log = log
        @gemfile = gemfile
        @timeout = timeout
        @script = script
      end

      # Runs the worker to its end.
      # @yieldparam event [Hash{String=>Object}] each event but the last
      # @return [Hash{String=>Object}] the "done" event
      # @raise [Unavailable] if the contender cannot be had
      # @raise [Invalid] if it broke the rules, died, or did not finish in time
      def run(&block)
        Reference.take
        start
        follow(&block)
      ensure
        stop
      end

      private

      def start
        job_reader, @job_writer = IO.pipe
        @events, events_writer = IO.pipe
        @pid = Process.spawn(environment, RbConfig.ruby, "-I", LIBRARY, @script, in: job_reader, out: events_writer,
                             err: [@log, "a"], chdir: @dir, pgroup: true)
        @deadline = now + @timeout
        job_reader.close
        events_writer.close
        @job_writer.puts(JSON.generate(@job))
      rescue Errno::EPIPE
        # It died before reading; follow says so.
      end

      def environment
        @gemfile ? { "BUNDLE_GEMFILE" => @gemfile, **WARM_HEAP } : WARM_HEAP
      end

      def follow
        while (line = next_line)
          event = JSON.parse(line)
          @alive = true
          case event["event"]
          when "done" then return alike(event)
          when "unavailable" then raise Unavailable, event["reason"]
          when "started" then next
          when "invalid" then raise Invalid, event["reason"]
          else yield event
          end
        end
        raise Invalid, "its process #{cause_of_death}" if @alive

        raise Unavailable, "its process does not start: it #{cause_of_death}"
      end

      # What an application in it turned on would have made it faster than the others.
      def alike(event)
        return event unless event["yjit"] == !Yjit.on?

        raise Invalid, "it ran with YJIT #{event["yjit"] ? "on" : "off"}, unlike the lab"
      end

      def next_line
        line_from(@events, @deadline - now, "it did not finish within #{@timeout.round} s")
      end

      def stop
        return unless @pid

        @job_writer.close
        end_process
      ensure
        @events&.close
      end
    end
  end
end
