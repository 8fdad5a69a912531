# frozen_string_literal: true

# The base of the proofs: where they build, how they run programs, how long they may take.

require "etc"
require_relative "program"
require_relative "report"
require_relative "../../rakelib/house/environment"

module Proof
  ROOT = House::ROOT

  # A proof: TITLE says what is claimed, HELP how it is attacked, #attack does so and counts.
  class Base
    # @return [Boolean] a bounded part of it, as CI runs it: a minute at most
    attr_reader :quick

    # @return [Numeric, nil] how long the time-boxed ones go on; nil: as long as is usual
    attr_reader :minutes

    # @param quick [Boolean]
    # @param minutes [Numeric, nil]
    def initialize(quick: false, minutes: nil)
      @quick = quick
      @minutes = minutes
    end

    # @return [String, nil] why it cannot be run on this machine (nil: it can)
    def missing
      nil
    end

    # @param report [Proof::Report]
    # @return [void]
    def attack(report)
      raise NotImplementedError, "#{self.class} attacks nothing"
    end

    private

    # @param name [String] of a directory for what is built and found
    # @return [String] its path
    def work(name = nil)
      path = File.join(*[ROOT, "tmp/proof", self.class::NAME, name].compact)
      FileUtils.mkdir_p(path)
      path
    end

    # Variables of make that change what is compiled.
    OPTIONS = %w[CC OPTIMIZE EXTRA].freeze
    private_constant :OPTIONS

    # @return [String] where targets are built that all proofs share: those with the default options
    def shared_build
      File.join(ROOT, "tmp/proof/build")
    end

    # A target of the engine's Makefile, in #shared_build, or with other options in work("build"). In each directory one
    # make runs at a time.
    #
    # @param report [Proof::Report]
    # @param target [String]
    # @param variables [Hash{String => String}] of make
    # @param env [Hash{String => String, nil}]
    # @return [Boolean]
    def make(report, target, variables: {}, env: {})
      directory = variables.keys.intersect?(OPTIONS) ? work("build") : shared_build
      settings = { "BUILD" => directory, **variables }.map { |key, value| "#{key}=#{value}" }
      argv = ["make", "-C", "engine", "-j#{Etc.nprocessors}", "-Otarget", target, *settings]
      FileUtils.mkdir_p(directory)
      File.open("#{directory}.lock", File::RDWR | File::CREAT) do |lock|
        lock.flock(File::LOCK_EX)
        run(report, argv, env: env, log: target)
      end
    end

    # @param log [String] a name for the file with its output
    # @return [Boolean] whether it ended well
    def run(report, argv, env: {}, log: File.basename(argv.first), dir: ROOT, quietly_fails: false)
      warn "bin/proof: #{self.class::NAME}: #{argv.join(" ").gsub("#{ROOT}/", "")}"
      file = File.join(work("logs"), "#{log.tr("/ ", "--")}.log")
      program = Program.new(argv, dir: dir, log: file, env: env)
      @last_output = nil
      ok = program.run(report, quietly_fails: quietly_fails)
      @last_output = program.output
      ok
    end

    # @return [String] what the last program printed
    attr_reader :last_output
  end
end
