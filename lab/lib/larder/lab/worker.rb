# frozen_string_literal: true

# The base of processes that measure one contender: opens the store, verifies that it keeps values, measures, and
# reports what it measured as JSON lines. Reads one job from standard input and ends when that closes, so it cannot
# outlive the command. Started by WorkerProcess; never loaded by the command itself.

require "active_support"
require "active_support/cache"
require "active_support/core_ext/numeric/time"
require_relative "answers"
require_relative "contenders"
require_relative "errors"
require_relative "job"
require_relative "process_memory"
require_relative "proving"

module Larder
  module Lab
    # Measures one contender once. A subclass implements {#measure}.
    class Worker
      include Answers
      include Proving

      # Characters of a wrong value in a message.
      LONGEST_SHOWN = 80

      # Does the job.
      # @return [void]
      def self.main
        Job.begin(self)
      end

      # @return [void]
      def run
        answering do
          open_contender
          prove(contender)
          emit("ready", versions: versions(contender), options: contender.recorded)
          measure
          { disk_bytes: contender.disk_bytes, memory_bytes: resident_growth }
        end
      end

      private

      attr_reader :contender

      def measure
        raise NotImplementedError, "#{self.class} does not say what it measures"
      end

      def open_contender
        before = ProcessMemory.resident("self")
        @contender = contender_at(@job["endpoint"]).open
        @opened_at = ProcessMemory.resident("self") || before
      end

      # A contender whose server is found there; not open yet.
      def contender_at(endpoint)
        Contenders.fetch(@job["contender"]).new(dir: @job["dir"], endpoint: endpoint, threads: @job["threads"],
                                                size: @job["size"] || Contender::SIZE)
      end

      # Values may be as long as a megabyte.
      def shown(value)
        text = value.inspect
        text.size > LONGEST_SHOWN ? "#{text[0, LONGEST_SHOWN]}..." : text
      end

      # What the process has grown by since the store was opened; nil where the system does not say.
      def resident_growth
        now = ProcessMemory.resident("self")
        now && [now - @opened_at, 0].max
      end
    end
  end
end
