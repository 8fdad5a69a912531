# frozen_string_literal: true

require "fileutils"
require_relative "job"
require_relative "progress"

module House
  # Runs jobs side by side, each in a process group of its own with its output in a file. Prints one line when a job
  # ends, the last line of output of long jobs every 15 seconds, and the output of failed jobs. A job that makes no
  # progress is stopped, see Progress.
  class Runner
    HEARTBEAT_SECONDS = 15
    TICK_SECONDS = 0.05
    GRACE_SECONDS = 2
    FAILED_LINES = 200
    REASON_LINES = 30

    Running = Struct.new(:job, :pid, :log, :started, :last_seen, :progress)

    # @param jobs [Array<House::Job>]
    # @param lanes [Integer] how many run at once
    # @param log_dir [String] where outputs are kept
    # @param out [IO] where progress is printed
    # @param verbose [Boolean] print the output of every job, not only of failed ones
    # @param heartbeat [Numeric] seconds after which a running job's last line is shown
    # @param quiet [Numeric] seconds without progress after which a job is stopped
    def initialize(jobs, lanes:, log_dir:, out: $stdout, verbose: false, heartbeat: HEARTBEAT_SECONDS,
                   quiet: Progress::QUIET_SECONDS)
      @waiting = jobs.sort_by { |job| -job.weight }
      @lanes = lanes
      @log_dir = log_dir
      @out = out
      @verbose = verbose
      @heartbeat = heartbeat
      @quiet = quiet
      @running = []
      @results = []
      @total = jobs.size
    end

    # @return [Array<House::Job::Result>] in the order in which they ended
    def run
      FileUtils.mkdir_p(@log_dir)
      until @waiting.empty? && @running.empty?
        settle_unrunnable
        start_next while @running.size < @lanes && ready
        sleep TICK_SECONDS unless @running.empty?
        @running.dup.each { |running| check(running) }
      end
      @results
    ensure
      @running.dup.each { |running| stop(running, "stopped") } # which takes it out of the list
    end

    private

    # Jobs that cannot run here, or whose prerequisite failed.
    def settle_unrunnable
      @waiting.select(&:missing).each { |job| finish(settled(job, Counts.new(0, 0, 1), job.missing)) }
      failed = @results.select(&:failed?).map { |result| result.job.name }
      blocked = @waiting.group_by { |job| job.after.find { |name| failed.include?(name) } }
      blocked.delete(nil)
      blocked.each do |name, jobs|
        @out.puts "  FAIL  #{jobs.size} jobs are not run, because #{name} failed"
        jobs.each { |job| @results << settled(job, Counts.new(0, 1, 0), "not run, because #{name} failed") }
      end
    end

    def settled(job, counts, note)
      @waiting.delete(job)
      Job::Result.new(job, counts, 0.0, 0.0, note, nil)
    end

    # A prerequisite that is not part of this run is not waited for.
    def ready
      unfinished = (@waiting + @running.map(&:job)).map(&:name)
      @waiting.find { |job| !job.after.intersect?(unfinished) }
    end

    def start_next
      job = ready
      @waiting.delete(job)
      log = File.join(@log_dir, "#{job.name.gsub(/[^\w.-]+/, "_")}.log")
      Thread.handle_interrupt(Exception => :never) do # between its start and its place in the list, which #run stops
        pid = Process.spawn(job.env, *job.argv, chdir: job.dir, pgroup: true,
                                                in: File::NULL, out: log, err: [:child, :out])
        @running << Running.new(job, pid, log, now, now)
      end
    rescue SystemCallError => e
      finish(Job::Result.new(job, Counts.new(0, 1, 0), 0.0, 0.0, "could not be started: #{e.message}", nil))
    end

    def check(running)
      status, cpu_seconds = wait_for(running, Process::WNOHANG)
      if status
        complete(running, status, cpu_seconds)
      elsif (problem = progress_of(running).problem(File.size(running.log)))
        stop(running, problem)
      elsif now - running.last_seen > @heartbeat
        running.last_seen = now
        @out.puts format("  ...       %-70s %5.0f s  %s", running.job.name, now - running.started, tail(running.log))
        @out.flush
      end
    end

    def progress_of(running)
      running.progress ||= Progress.new(ProcessTree.new(running.pid), quiet: @quiet, cpu_limit: running.job.cpu_limit)
    end

    # The kernel adds a child's processor time to ours when we wait for it, that of its own children included.
    def wait_for(running, flags = 0)
      before = cpu_seconds_of_children
      _, status = Process.wait2(running.pid, flags)
      [status, cpu_seconds_of_children - before]
    end

    def cpu_seconds_of_children
      times = Process.times
      times.cutime + times.cstime
    end

    def complete(running, status, cpu_seconds)
      @running.delete(running)
      output = Job.output(running.log)
      counts, note = running.job.judge(output, status)
      finish(Job::Result.new(running.job, counts, now - running.started, cpu_seconds, note, running.log), output)
    end

    # Kills the job and all that it started: tests start servers and writers of their own, some in groups of their own.
    def stop(running, problem)
      @running.delete(running)
      seconds = now - running.started
      tree = ProcessTree.new(running.pid)
      members = tree.members
      tree.signal(:TERM)
      sleep GRACE_SECONDS
      tree.kill(members)
      _, cpu_seconds = wait_for(running)
      note = "#{problem}; stopped after #{seconds.round} s"
      finish(Job::Result.new(running.job, Counts.new(0, 1, 0), seconds, cpu_seconds, note, running.log),
             Job.output(running.log))
    end

    def finish(result, output = nil)
      @results << result
      @out.puts line(result)
      print_output(result, output) if output && (result.failed? || @verbose)
      @out.flush
    end

    def line(result)
      word = result.skipped? ? "skip" : "ok"
      word = "FAIL" if result.failed?
      notes = [summary(result), result.note].compact.join("; ")
      format("  %-4s %3d/%-3d  %-70s %5.1f s  CPU %5.1f s  %s", word, @results.size, @total, result.job.name,
             result.seconds, result.cpu_seconds, notes).rstrip
    end

    def summary(result)
      return if result.job.kind == :build || result.skipped?

      counts = result.counts.to_h.select { |word, count| word == :passed || count.positive? }
      counts.map { |word, count| "#{count} #{word}" }.join(", ")
    end

    def print_output(result, output)
      lines = output.lines
      command = result.job.argv.join(" ")
      command = "#{command[0, 160]} ..." if command.size > 165
      @out.puts "  ---- #{result.job.name}: #{command}"
      Counts.failures(output).first(REASON_LINES).each { |text| @out.puts "  ! #{text}" } # before all that went well
      @out.puts "  (the last #{FAILED_LINES} of #{lines.size} lines of #{result.log})" if lines.size > FAILED_LINES
      lines.last(FAILED_LINES).each { |text| @out.puts "  | #{text.chomp}" }
      @out.puts "  ----"
    end

    # The last line that a running job has printed, cut to fit.
    def tail(path)
      bytes = File.binread(path, 400, [File.size(path) - 400, 0].max) || "" # nil: nothing was printed yet
      last = bytes.dup.force_encoding("UTF-8").scrub("?").split(/[\r\n]+/).reject { |text| text.strip.empty? }.last
      last.to_s.gsub(/[^[:print:]]/, "").strip[0, 60]
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
