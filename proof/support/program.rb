# frozen_string_literal: true

# Runs the programs of a proof, shows that they are alive, and collects the counts that they print: a line
# `@ NUMBER LABEL` is a count, `@ NUMBER % LABEL` a share, `@note TEXT` a note. All other output goes to a log.

require "fileutils"
require "io/wait"

module Proof
  # One program, run to its end or its limit.
  class Program
    COUNT = /^@ (-?\d+(?:\.\d+)?)( %)? (\S.*)$/
    NOTE = /^@note (\S.*)$/
    SIGN_OF_LIFE_SECONDS = 20
    TAIL_LINES = 40

    attr_reader :output

    # @param argv [Array<String>] run without a shell
    # @param env [Hash{String => String, nil}]
    # @param dir [String]
    # @param limit [Numeric] seconds until it is taken for hung and killed
    # @param log [String] where its output goes
    def initialize(argv, dir:, log:, env: {}, limit: 600)
      @argv = argv
      @env = env
      @dir = dir
      @log = log
      @limit = limit
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
      follow(reader, log) ? Process.wait2(pid).last : stop(pid)
    rescue Interrupt
      stop(pid) if pid
      raise
    end

    # @return [Boolean] false where the limit passed first
    def follow(reader, log)
      ends = now + @limit
      said = now
      until reader.closed?
        return false if now > ends

        if reader.wait_readable(1)
          chunk = reader.read_nonblock(65_536, exception: false)
          return true if chunk.nil?

          @output << chunk
          log.write(chunk)
          log.flush
        end
        said = sign_of_life(said)
      end
      true
    end

    def sign_of_life(said)
      return said if now - said < SIGN_OF_LIFE_SECONDS

      line = @output.byteslice([@output.bytesize - 2000, 0].max..).force_encoding(Encoding::UTF_8).scrub.lines.last
      warn "  … #{line.strip[0, 100]}" if line
      now
    end

    def stop(pid)
      Process.kill(:KILL, -pid)
      Process.wait(pid)
      :hung
    end

    def collect(report)
      @output.scan(COUNT) do |number, share, label|
        report.count(label, number.include?(".") ? Float(number) : Integer(number), unit: share ? "%" : "")
      end
      @output.scan(NOTE) { |(text)| report.note(text) }
    end

    def describe(status)
      return "did not end within #{@limit} s" if status == :hung

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
