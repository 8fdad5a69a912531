# frozen_string_literal: true

# Owns what a worker process is told and how it answers: its side of {WorkerProcess}.

require "json"

module Larder
  module Lab
    # The start of a worker.
    module Job
      # Reads the job from standard input; sends all that is printed to standard error, for events alone go to what was
      # standard output; and ends this process when the lab's does.
      #
      # @return [Array(Hash{String => Object}, IO)] the job, and where events go
      def self.take
        output = $stdout.dup
        output.sync = true
        $stdout.reopen($stderr)
        job = JSON.parse($stdin.gets)
        Thread.new do
          $stdin.read
          exit!(1)
        end
        [job, output]
      end
    end
  end
end
