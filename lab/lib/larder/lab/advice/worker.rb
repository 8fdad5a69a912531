# frozen_string_literal: true

# The process that tries one thing once for an advice. Reads one job from standard input and ends when that closes.
# Started by WorkerProcess; never loaded by the command itself.

require_relative "../answers"
require_relative "../clock"
require_relative "../codecs/row"
require_relative "../codecs/ways"
require_relative "../errors"
require_relative "../job"
require_relative "../payloads"
require_relative "kinds"

module Larder
  module Lab
    module Advice
      # Measures blocks of calls.
      class Worker
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
            payload = Payloads.of(@job["payload"], @job["source"])
            Kinds.fetch(@job["kind"]).new(self, @job).run(payload)
            { versions: versions }
          rescue ::Larder::UnserializableError => error # the value is to blame, not the codec
            raise Unavailable, error.message
          rescue Errno::ENOSPC
            raise Unavailable, "no space is left in #{File.dirname(Dir.pwd)}; TMPDIR=DIR takes another directory"
          end
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
              emit("block", operation: operation, calls: calls, seconds: seconds)
              return answer
            end
            calls = [(calls * [@job["seconds"] / [seconds, 1e-6].max * 1.2, 2].max).ceil, MOST_CALLS].min
          end
        end

        # The first time that a value goes through a codec.
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

        def versions
          found = Codecs::Row::GEMS.to_h { |name| [name, Gem.loaded_specs[name]&.version&.to_s] }.compact
          found.merge("larder" => ::Larder::VERSION, "activesupport" => ActiveSupport::VERSION::STRING)
        end
      end
    end
  end
end

Larder::Lab::Advice::Worker.main if $PROGRAM_NAME == __FILE__
