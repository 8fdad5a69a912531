# frozen_string_literal: true

# What the proofs have in common: where they build, how they run programs, how quick they must be. Owns no proof.

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

    # A target of the engine's Makefile, built apart from what others build.
    #
    # @param report [Proof::Report]
    # @param target [String]
    # @param build [String] name of the directory, where options differ
    # @param variables [Hash{String => String}] of make
    # @param env [Hash{String => String, nil}]
    # @return [Boolean]
    def make(report, target, build: "build", variables: {}, env: {}, limit: 600)
      settings = { "BUILD" => work(build), **variables }.map { |key, value| "#{key}=#{value}" }
      argv = ["make", "-C", "engine", "-j#{Etc.nprocessors}", "-Otarget", target, *settings]
      run(report, argv, env: env, limit: limit, log: target)
    end

    # @param log [String] a name for the file with its output
    # @return [Boolean] whether it ended well
    def run(report, argv, env: {}, limit: 600, log: File.basename(argv.first), dir: ROOT, quietly_fails: false)
      warn "bin/proof: #{self.class::NAME}: #{argv.join(" ").gsub("#{ROOT}/", "")}"
      file = File.join(work("logs"), "#{log.tr("/ ", "--")}.log")
      program = Program.new(argv, dir: dir, log: file, env: env, limit: limit)
      @last_output = nil
      ok = program.run(report, quietly_fails: quietly_fails)
      @last_output = program.output
      ok
    end

    # @return [String] what the last program printed
    attr_reader :last_output
  end
end
