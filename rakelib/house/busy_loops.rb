# frozen_string_literal: true

require "rbconfig"

module House
  # Processes that compute without end, to see how tests fare on a busy machine: bin/test --busy 3.
  module BusyLoops
    # Ends with the process that started it, for then its input ends.
    PROGRAM = "Thread.new { $stdin.read; exit! }; loop {}"

    module_function

    # Runs the block while `count` processes compute.
    #
    # @param count [Integer]
    # @yieldparam pids [Array<Integer>]
    # @return [Object] what the block answers
    def during(count)
      reader, writer = IO.pipe
      pids = Array.new(count) do
        Process.spawn(RbConfig.ruby, "--disable-gems", "-e", PROGRAM, in: reader, pgroup: true)
      end
      reader.close
      yield pids
    ensure
      writer&.close
      pids&.each { |pid| Process.wait(pid) }
    end
  end
end
