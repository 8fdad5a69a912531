# frozen_string_literal: true

# Owns what must not outlive the command: a server process, a directory. Runs as a process of its own, in a process
# group of its own, and acts when its standard input closes, which the kernel does for it even when the command was
# killed with SIGKILL. Plain Ruby without gems, so that it starts in a few milliseconds and works everywhere.
#
#   ruby --disable=gems warden.rb run COMMAND ARGUMENT...    starts it, prints its pid, stops it at the end of input
#   ruby --disable=gems warden.rb remove DIRECTORY           removes the directory at the end of input

require "fileutils"

# The two duties of the warden.
module Warden
  # Seconds between asking a server to end and killing it.
  PATIENCE = 2.0

  module_function

  # @param command [Array<String>]
  # @return [void]
  def run(command)
    server = Process.spawn(*command, in: File::NULL, out: $stderr, err: $stderr, close_others: true)
    $stdout.puts(server)
    $stdout.close
    ended = Process.detach(server)
    Thread.new { leave_with(ended) }
    wait_for_end_of_input
    stop(server, ended)
  rescue SystemCallError => error
    abort "cannot start #{command.first}: #{error.message}"
  end

  # Whoever writes there may still be ending, so removal is tried for a few seconds.
  # @param directory [String]
  # @return [void]
  def remove(directory)
    wait_for_end_of_input
    50.times do
      FileUtils.rm_rf(directory)
      return unless File.exist?(directory)

      sleep 0.1
    end
  end

  # Returns when the command has closed its end, or when this process is asked to end.
  # @return [void]
  def wait_for_end_of_input
    $stdin.read
  rescue SignalException
    # Asked to end: the duty is done all the same.
  end

  # Ends this process as soon as the server has ended by itself.
  # @param ended [Process::Waiter]
  # @return [void]
  def leave_with(ended)
    ended.join
    exit!(1)
  end

  # @param server [Integer] pid
  # @param ended [Process::Waiter]
  # @return [void]
  def stop(server, ended)
    Process.kill(:TERM, server)
    Process.kill(:KILL, server) unless ended.join(PATIENCE)
    ended.join(PATIENCE)
  rescue Errno::ESRCH
    nil
  end
end

%w[INT HUP].each { |signal| trap(signal, "IGNORE") }

duty, *arguments = ARGV
case duty
when "run" then Warden.run(arguments)
when "remove" then Warden.remove(arguments.fetch(0))
else abort "usage: warden.rb run COMMAND... | remove DIRECTORY"
end
