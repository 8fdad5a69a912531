# frozen_string_literal: true

# The process that tries one contender on one payload: makes the payload, measures the first call of each kind,
# verifies what comes back, then measures blocks of calls. Reads one job from standard input and ends when that
# closes. Started by WorkerProcess; never loaded by the command itself.

require_relative "../answers"
require_relative "../clock"
require_relative "../errors"
require_relative "../job"
require_relative "codecs"
require_relative "payloads"
require_relative "kinds"

module Larder
  module Lab
    # Tries one codec once.
    class TrialWorker
      include Answers
      include Clock

      # Calls of a block, at most.
      MOST_CALLS = 5_000_000

      # Does the job.
      # @return [void]
      def self.main
        new(*Job.take).run
      end

      # @return [void]
      def run
        answering do
          try_payload
          { versions: versions }
        end
      end

      # Both directions: the first call of each, whether what comes back is right, then blocks of both and, where that
      # is wanted, of the two together.
      #
      # @param there [String] name of the operation
      # @param back [String]
      # @param forth [#call] value to what is kept
      # @param again [#call] what is kept to value
      # @param both [Boolean] are the two together wanted?
      # @param once [Float] seconds: where the first call there takes longer, it is not repeated, and stands for a block
      # @yieldparam copy [Object]
      # @yieldreturn [Boolean] is it right?
      # @return [Object] what was kept
      # @raise [Invalid]
      def try(there, back, value, forth, again, both: false, once: Float::INFINITY, &right)
        kept, cold_there = serialized { timed { forth.call(value) } }
        copy, cold_back = timed { again.call(kept) }
        demand(right, copy)
        emit("cold", there => cold_there, back => cold_back)
        single = cold_there > once
        single ? tell_block(there, 1, cold_there) : block(there) { forth.call(value) }
        demand(right, block(back) { again.call(kept) })
        return kept unless both

        if single
          tell_block("round trip", 1, cold_there + cold_back)
        else
          demand(right, block("round trip") { again.call(forth.call(value)) })
        end
        kept
      end

      # @param operation [String]
      # @return [Object] the last answer of a block that takes as long as was asked for
      def block(operation)
        calls = 1
        answer = nil
        loop do
          GC.start
          started = now
          calls.times { answer = yield }
          seconds = now - started
          if seconds >= @job["seconds"] || calls >= MOST_CALLS
            tell_block(operation, calls, seconds)
            return answer
          end
          calls = [(calls * [@job["seconds"] / [seconds, 1e-6].max * 1.2, 2].max).ceil, MOST_CALLS].min
        end
      end

      # A payload may be the user's own words, which need not be Ruby.
      # @return [Object] what the block answers
      # @raise [Unavailable]
      def made
        yield
      rescue Unavailable
        raise
      rescue StandardError, ScriptError, SystemStackError => error
        raise Unavailable, "the payload cannot be made: #{words(error)}"
      end

      # Runs the first call that a value goes through a codec: one that the codec cannot take is no fault of either.
      # @return [Object] what the block answers
      # @raise [Unavailable]
      def serialized
        yield
      rescue Unavailable, Invalid, SystemCallError, ::Larder::UnserializableError, ::Larder::MissingGemError
        raise
      rescue StandardError, SystemStackError => error
        raise Unavailable, "the payload cannot be serialized: #{words(error)}"
      end

      private

      # A value that a codec cannot take, and a disk that is full, are no faults of what is measured.
      def try_payload
        payload = Payloads.fetch(@job["payload"]).new(@job["source"] || @job["count"])
        Kinds.fetch(@job["kind"]).new(self, @job).run(payload)
      rescue ::Larder::UnserializableError => error
        raise Unavailable, error.message
      rescue Errno::ENOSPC
        raise Unavailable, "no space is left in #{File.dirname(Dir.pwd)}; TMPDIR=DIR takes another directory"
      end

      def tell_block(operation, calls, seconds)
        emit("block", operation: operation, calls: calls, seconds: seconds)
      end

      def demand(right, copy)
        raise Invalid, "a wrong value came back" unless right.call(copy)
      end

      def timed
        GC.start
        started = now
        [yield, now - started]
      end

      def versions
        names = %w[activesupport brotli zstd-ruby snappy extlz4 lz4_flex msgpack json ox google-protobuf]
        found = names.to_h { |name| [name, Gem.loaded_specs[name]&.version&.to_s] }.compact
        found.merge("larder" => ::Larder::VERSION)
      end
    end
  end
end

Larder::Lab::TrialWorker.main if $PROGRAM_NAME == __FILE__
