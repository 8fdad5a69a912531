# frozen_string_literal: true

# Reads the job of a worker process from standard input, and ends the process when the lab's does.

require "json"
require_relative "yjit"

module Larder
  module Lab
    # The start of a worker.
    module Job
      TURN = Mutex.new
      private_constant :TURN

      # Reads the job from standard input; sends all that is printed to standard error, for events alone go to what was
      # standard output; ends this process when the lab's does, and has YJIT as all others have it.
      #
      # @return [Array(Hash{String => Object}, IO)] the job, and where events go
      def self.take
        output = $stdout.dup
        output.sync = true
        $stdout.reopen($stderr)
        job = JSON.parse($stdin.gets)
        Yjit.enable
        Thread.new do
          $stdin.read
          act
          exit!(1)
        end
        [job, output]
      end

      # Keeps what is to be done before this process ends, also when the lab was killed.
      # @return [void]
      def self.finally(&block)
        @armed ||= at_exit { act }
        acts << block
      end

      # Each once, whoever comes first: the thread above or the end of the program.
      def self.act
        TURN.synchronize do
          while (block = acts.pop)
            begin
              block.call
            rescue StandardError => error
              warn error.full_message(highlight: false)
            end
          end
        end
      end

      def self.acts
        @acts ||= []
      end
      private_class_method :act, :acts
    end
  end
end
