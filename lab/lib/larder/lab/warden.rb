# frozen_string_literal: true

# Ends what must not outlive the command: a server process, a directory. Runs as a process of its own, in a process
# group of its own, and acts when its standard input closes, which the kernel does even if the command was killed with
# SIGKILL. Plain Ruby without gems, so that it starts in a few milliseconds and works everywhere.
#
#   ruby --disable=gems warden.rb run SIGNAL USER COMMAND ARGUMENT...
#                                                    starts it, prints its pid, stops it by the signal at the end of
#                                                    input; USER: whom it runs as, "-" for whoever runs the warden
#   ruby --disable=gems warden.rb remove DIRECTORY   removes the directory at the end of input

require "etc"
require "fileutils"

# The duties of the warden.
# @api private
module Warden
  # Seconds between asking a server to end and killing it.
  PATIENCE = 2.0

  module_function

  def run(signal, user, command)
    server = launch(user, command)
    report(server)
    ended = Process.detach(server)
    Thread.new { leave_with(server, ended) }
    wait_for_end_of_input
    stop(server, ended, signal)
  rescue SystemCallError, ArgumentError => error
    abort "cannot start #{command.first}: #{error.message}"
  end

  def report(server)
    $stdout.syswrite("#{server}\n") # no buffer, which `reopen` would write again
  rescue Errno::EPIPE
    nil # the command has been killed: its end of the input is closed, too
  ensure
    $stdout.reopen(File::NULL) # not closed: Ruby flushes it before it starts another program
  end

  # Answers the pid. It has a process group of its own, so that what it starts can be ended with it.
  def launch(user, command)
    plumbing = { in: File::NULL, out: $stderr, err: $stderr, close_others: true }
    return Process.spawn(*command, pgroup: true, **plumbing) if user == "-"

    account = Etc.getpwnam(user)
    fork do
      Process.setpgid(0, 0)
      Process.initgroups(user, account.gid)
      Process::GID.change_privilege(account.gid)
      Process::UID.change_privilege(account.uid)
      exec(*command, plumbing)
    end
  end

  # A process that writes there may still be ending, and on a busy machine that takes long: removal is tried for a
  # minute.
  def remove(directory)
    wait_for_end_of_input
    600.times do
      FileUtils.rm_rf(directory)
      return unless File.exist?(directory)

      sleep 0.1
    end
  end

  # Returns when the command has closed its end, or when this process is asked to end.
  def wait_for_end_of_input
    $stdin.read
  rescue SignalException
    # Asked to end: the duty is done all the same.
  end

  # Ends this process as soon as the server has ended by itself, with its code; 128 and the signal's number where it
  # was killed.
  def leave_with(server, ended)
    status = ended.value
    return if @stopping

    sweep(server)
    exit!(status.exitstatus || (128 + status.termsig))
  end

  def stop(server, ended, signal)
    @stopping = true
    Process.kill(signal, server) if ended.alive?
    Process.kill(:KILL, server) unless ended.join(PATIENCE)
    ended.join(PATIENCE)
  rescue Errno::ESRCH
    nil
  ensure
    sweep(server)
  end

  # Ends what a server has left of its process group, and removes its System V shared memory, which the kernel keeps
  # when a PostgreSQL is killed.
  def sweep(server)
    begin
      Process.kill(:KILL, -server)
    rescue SystemCallError
      nil # nothing is left
    end
    memory_of(server).each { |id| system("ipcrm", "-m", id, out: File::NULL, err: File::NULL) }
  end

  # The ids of the shared memory that a server has made.
  def memory_of(server)
    heading, *segments = File.readlines("/proc/sysvipc/shm").map(&:split)
    creator = heading.index("cpid")
    id = heading.index("shmid")
    segments.select { |fields| fields[creator] == server.to_s }.map { |fields| fields[id] }
  rescue SystemCallError
    []
  end
end

%w[INT HUP].each { |signal| trap(signal, "IGNORE") }

duty, *arguments = ARGV
case duty
when "run" then Warden.run(arguments.shift, arguments.shift, arguments)
when "remove" then Warden.remove(arguments.fetch(0))
else abort "usage: warden.rb run SIGNAL USER COMMAND... | remove DIRECTORY"
end
