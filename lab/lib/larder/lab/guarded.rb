# frozen_string_literal: true

require "rbconfig"
require_relative "clock"

module Larder
  module Lab
    # Runs one program under a warden, see warden.rb: it ends by {#stop}, and also if this process is killed.
    # Knows nothing about what the program does.
    # @api private
    class Guarded
      include Clock

      WARDEN = File.expand_path("warden.rb", __dir__)
      # What is for this Ruby, as an allocator that is preloaded, is not for the program.
      UNSET = { "RUBYOPT" => nil, "LD_PRELOAD" => nil }.freeze

      # Starts a warden for a duty that it has at the end of its input: when each process that has the pipe has ended.
      #
      # Answers the warden's pid, and the end of the pipe that this process has.
      def self.watch(*duty, **more)
        reader, writer = IO.pipe
        pid = Process.spawn(UNSET, RbConfig.ruby, "--disable=gems", WARDEN, *duty, in: reader, out: File::NULL,
                            chdir: "/", pgroup: true, **more)
        reader.close
        [pid, writer]
      end

      # The pid of the program; nil if it could not be started.
      attr_reader :pid

      # `command` is the program and its arguments. It works in `dir`, prints into the file `log`, ends at `signal`, and
      # runs as `user` (nil: as this process).
      def initialize(command, dir:, log:, signal: "TERM", user: nil)
        @command = command
        @dir = dir
        @log = log
        @signal = signal
        @user = user
      end

      def start
        pids, writer = IO.pipe
        @warden, @duty = Guarded.watch("run", @signal, @user || "-", *@command, out: writer, err: [@log, "a"],
                                        chdir: @dir)
        writer.close
        @pid = pids.gets&.to_i
        pids.close
        self
      end

      # True if the program has ended by itself.
      def ended?(patience = 0)
        limit = now + patience
        sleep 0.01 until reap || now > limit
        !@status.nil?
      end

      # True if it has ended by itself and without an error.
      def succeeded? = @status&.success? || false

      # Says how it ended by itself.
      def cause
        return unless @status

        # As a shell says it: the warden ends with the code of the program.
        code = @status.exitstatus.to_i
        code > 128 ? "was killed by signal #{code - 128}" : "ended with code #{code}"
      end

      # Ends the program and waits until it is gone.
      def stop
        @duty&.close
        Process.wait(@warden) if @warden
      rescue Errno::ECHILD
        nil
      ensure
        @warden = @duty = nil
      end

      private

      def reap
        return true unless @warden && @status.nil?

        ended, status = Process.wait2(@warden, Process::WNOHANG)
        return false unless ended

        @warden = nil
        @status = status
      end
    end
  end
end
