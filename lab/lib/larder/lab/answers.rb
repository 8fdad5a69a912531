# frozen_string_literal: true

# Writes the answers of a worker process: its events, one a line, and its end, in whichever way it ends, as one of
# them.

require "json"
require_relative "errors"
require_relative "yjit"

module Larder
  module Lab
    # For workers, which are made of what {Job.take} answers.
    module Answers
      # @param job [Hash{String=>Object}] what is to be done
      # @param output [IO] where events go
      def initialize(job, output)
        @job = job
        @output = output
      end

      # @param event [String] its name
      # @return [void]
      def emit(event, **fields)
        @output.puts(JSON.generate({ event: event, **fields }))
      end

      private

      # Runs the block between the events "started" and "done". What cannot be had is "unavailable"; whatever else
      # goes wrong makes the measurement "invalid".
      # @yieldreturn [Hash, nil] fields of "done"
      def answering
        emit("started")
        emit("done", **yield.to_h, yjit: Yjit.on?)
      rescue Unavailable => error
        emit("unavailable", reason: error.message)
      rescue Invalid => error
        emit("invalid", reason: error.message)
      rescue StandardError, LoadError, NotImplementedError => error
        warn error.full_message(highlight: false)
        emit("invalid", reason: words(error))
      end

      # An error in one line.
      def words(error)
        "#{error.class}: #{error.message.lines.first.to_s.strip}"
      end
    end
  end
end
