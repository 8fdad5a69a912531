# frozen_string_literal: true

require_relative "environment"
require_relative "counts"

module House
  # A program that bin/test runs: the command, its conditions, and how its output is judged.
  class Job
    # The result of a job. `seconds` is elapsed time, `cpu_seconds` processor time of the job and its children; `note`
    # says why it failed or was skipped; `log` is the path of its output; `earlier` is the first result of a job that
    # was run again.
    Result = Struct.new(:job, :counts, :seconds, :cpu_seconds, :note, :log, :earlier) do
      # @return [Boolean]
      def failed?
        counts.failed.positive?
      end

      # @return [Boolean] whether the job was not run at all
      def skipped?
        log.nil? && !failed?
      end

      # @return [Boolean] whether it failed and was allowed to
      def allowed_failure?
        job.may_fail && !log.nil? && !note.nil?
      end

      # @return [Boolean] whether it failed and then passed when it was retried
      def passed_retry?
        !earlier.nil? && !failed?
      end

      # @return [String] what it printed; nothing where it was not run
      def output
        log ? Job.output(log) : ""
      end
    end

    # :one      passing is one passed test (a linter, a build)
    # :counted  the output must hold counts: a run without them is a failure, even with exit status 0
    # :build    not a test: counts only where it fails
    KINDS = [:one, :counted, :build].freeze

    # A job computes without end where it takes this many times its weight, and at least that many seconds.
    CPU_LIMIT_WEIGHTS = 20
    LEAST_CPU_LIMIT = 1200

    attr_accessor :name
    attr_reader :suite, :argv, :env, :dir, :kind, :after, :weight, :cpu_limit, :may_fail, :retries

    # @param name [String] unique
    # @param suite [String] the line of the summary it counts in
    # @param argv [Array<String>] the command, run without a shell
    # @param env [Hash{String => String, nil}] variables to set, or with nil to unset
    # @param dir [String] where to run it
    # @param kind [Symbol] one of KINDS
    # @param after [Array<String>] names of jobs that must have passed before
    # @param weight [Numeric] seconds it takes, roughly: the longest job starts first
    # @param cpu_limit [Numeric, nil] seconds of processor time after which it computes without end; nil: by its weight
    # @param missing [String, nil] why it cannot run here (nil: it can)
    # @param may_fail [Boolean] failures count as skipped: their cause is outside this repository
    # @param retries [Boolean] it runs jobs of its own, and retries those that fail
    def initialize(name, suite:, argv:, env: {}, dir: ROOT, kind: :counted, after: [], weight: 1, cpu_limit: nil,
                   missing: nil, may_fail: false, retries: false)
      raise ArgumentError, "unknown kind #{kind.inspect}; known: #{KINDS.join(", ")}" unless KINDS.include?(kind)

      @name = name
      @suite = suite
      @argv = argv
      @env = env
      @dir = dir
      @kind = kind
      @after = after
      @weight = weight
      @cpu_limit = cpu_limit || [CPU_LIMIT_WEIGHTS * weight, LEAST_CPU_LIMIT].max
      @missing = missing
      @may_fail = may_fail
      @retries = retries
    end

    protected :name=

    # @param log [String] the path of what a job printed
    # @return [String] as valid UTF-8
    def self.output(log)
      File.read(log, encoding: "UTF-8").scrub
    end

    # @param name [String]
    # @return [House::Job] the same job under another name
    def named(name)
      dup.tap { |job| job.name = name }
    end

    # @return [String, nil] why this job cannot run on this machine
    attr_reader :missing

    # @param output [String]
    # @param status [Process::Status]
    # @return [Array(House::Counts, String)] the counts, and a note or nil
    def judge(output, status)
      counts, note = verdict(output, status)
      return [counts, note] unless may_fail && counts.failed.positive?

      [Counts.new(counts.passed, 0, counts.skipped + counts.failed), "#{counts.failed} failed, but allowed to: #{note}"]
    end

    private

    def verdict(output, status)
      counts = Counts.read(output) if kind == :counted
      if kind == :counted && counts.nil?
        return [Counts.new(0, 1, 0), "printed no counts (#{describe(status)})"]
      end
      return [failure(counts), describe(status)] unless status.success?

      [counts || Counts.new(kind == :build ? 0 : 1, 0, 0), nil]
    end

    # A program that fails although its counts say that all passed has failed once more: it crashed at its end.
    def failure(counts)
      return Counts.new(0, 1, 0) if counts.nil?

      counts.failed.zero? ? counts + Counts.new(0, 1, 0) : counts
    end

    def describe(status)
      status.signaled? ? "killed by signal #{Signal.signame(status.termsig)}" : "exit status #{status.exitstatus}"
    end
  end
end
