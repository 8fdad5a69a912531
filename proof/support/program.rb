# frozen_string_literal: true

# Runs the programs of a proof, shows that they are alive, and collects the counts that they print: a line
# `@ NUMBER LABEL` is a count, `@ NUMBER % LABEL` a share, `@note TEXT` a note. All other output goes to a log.

require "fileutils"
require "io/wait"
require_relative "../../rakelib/house/progress"

module Proof
  # One program, run to its end, or until it makes no progress.
  class Program
    COUNT = /^@ (-?\d+(?:\.\d+)?)( %)? (\S.*)$/
    NOTE = /^@note (\S.*)$/
    SIGN_OF_LIFE_SECONDS = 20
    TAIL_LINES = 40

    attr_reader :output

    # @param argv [Array<String>] run without a shell
    # @param env [Hash{String => String, nil}]
    # @param dir [String]
    # @param quiet [Numeric] seconds without progress after which it is killed, see House::Progress
    # @param log [String] where its output goes
    def initialize(argv, dir:, log:, env: {}, quiet: House::Progress::QUIET_SECONDS)
      @argv = argv
      @env = env
      @dir = dir
      @log = log
      @quiet = quiet
      @output = +""
    end

    # @param report [Proof::Report] gets the counts, and a failure where the program fails
    # @param quietly_fails [Boolean] the caller judges the exit status
    # @return [Boolean] whether it ended well
    def run(report, quietly_fails: false)
      FileUtils.mkdir_p(File.dirname(@log))
      status = File.open(@log, "wb") { |log| supervise(log) }
      @output = @output.force_encoding(Encoding::UTF_8).scrub
      collect(report)
      ok = status.is_a?(Process::Status) && status.success?
      report.fail("#{@argv.join(" ")}: #{describe(status)}\n#{tail}") unless ok || quietly_fails
      ok
    end

    private

    def supervise(log)
      reader, writer = IO.pipe(binmode: true)
      pid = Process.spawn(@env, *@argv, chdir: @dir, out: writer, err: writer, in: File::NULL, pgroup: true)
      writer.close
      problem = follow(reader, log, House::Progress.new(House::ProcessTree.new(pid), quiet: @quiet))
      problem ? stop(pid, problem) : Process.wait2(pid).last
    rescue Interrupt
      stop(pid, "interrupted") if pid
      raise
    end

    # @return [String, nil] why it must be stopped; nil: it has ended
    def follow(reader, log, progress)
      said = now
      until (problem = progress.problem(@output.bytesize))
        if reader.wait_readable(1)
          chunk = reader.read_nonblock(65_536, exception: false)
          return if chunk.nil?

          @output << chunk
          log.write(chunk)
          log.flush
        end
        said = sign_of_life(said)
      end
      problem
    end

    def sign_of_life(said)
      return said if now - said < SIGN_OF_LIFE_SECONDS

      line = @output.byteslice([@output.bytesize - 2000, 0].max..).force_encoding(Encoding::UTF_8).scrub.lines.last
      warn "  … #{line.strip[0, 100]}" if line
      now
    end

    def stop(pid, problem)
      House::ProcessTree.new(pid).kill
      Process.wait(pid)
      problem
    end

    def collect(report)
      @output.scan(COUNT) do |number, share, label|
        report.count(label, number.include?(".") ? Float(number) : Integer(number), unit: share ? "%" : "")
      end
      @output.scan(NOTE) { |(text)| report.note(text) }
    end

    def describe(status)
      return status if status.is_a?(String)

      status.signaled? ? "killed by signal #{status.termsig}" : "exit status #{status.exitstatus}"
    end

    def tail
      lines = @output.lines.last(TAIL_LINES).map { |line| "      #{line}" }.join
      "#{lines}      (all of it: #{@log})"
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
