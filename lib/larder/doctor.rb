# frozen_string_literal: true

# Owns what is looked at to tell whether a cache is well where it is deployed: the list of checks, and what they find.
# Nothing is changed, made or replaced by looking.

require "shellwords"
require_relative "size"

module Larder
  # Looks at a cache and where it stands, and tells what should be mended and how. `larder doctor` is the same without
  # the application; within it the fast path is looked at, too.
  #
  # @example
  #   puts Larder::Doctor.run(Rails.cache)
  class Doctor
    # What is wrong, and the command that mends it.
    Finding = Struct.new(:check, :what, :mend, keyword_init: true) do
      # @return [String]
      def to_s
        "#{what}\n  #{mend}"
      end
    end

    # What was looked at: `findings` of which each names its check, and `sound`, what was found to be as it should.
    Report = Struct.new(:path, :findings, :sound, keyword_init: true) do
      # @return [Boolean] was nothing found?
      def sound?
        findings.empty?
      end

      # @return [String] for people
      def to_s
        sound? ? "#{path} is sound" : findings.join("\n")
      end
    end

    # Here, where the name is taken: it is loaded when it is first used.
    require_relative "doctor/kind_checks"
    require_relative "doctor/file_checks"
    require_relative "doctor/place_checks"
    require_relative "doctor/use_checks"

    # The checks in their order, and what each says of a sound cache. Some need what was learned before them.
    CHECKS = {
      kind: "it is a cache of Larder's",
      attributes: "its attributes let it be changed",
      owner: "it belongs to the owner of its directory",
      mode: "nobody else may read or write it",
      opens: "it opens",
      memory: "it fits into the memory that may be used",
      space: "its place on the disk is reserved",
      layer: "it is not on the layer of a container",
      copies: "there are no copies of it beside it",
      git: "git leaves it alone",
      size: "it has the size that is configured",
      damage: "nothing in it was ever damaged",
      pressure: "it is not too small for what is read",
      sign_ins: "it has room for who signs in",
      fast_path: "simple calls are answered in C"
    }.freeze
    # Where one of these finds something nothing else is looked at: what would be said of a file that is not Larder's,
    # or cannot be changed, mends nothing.
    FIRST = %i[kind attributes].freeze
    private_constant :CHECKS, :FIRST

    # @param subject [String, #cache] the path of a file that is there, or a LarderStore
    # @return [Report]
    def self.run(subject)
      new(subject).report
    end

    # @param subject [String, #cache]
    def initialize(subject)
      @store = subject unless subject.is_a?(String)
      @path = File.absolute_path(@store ? @store.cache.path : subject)
      @lock = "#{@path}.lock"
    end

    # @return [Report]
    def report
      answers = answers_of(FIRST)
      answers.update(answers_of(CHECKS.keys - FIRST)) if answers.each_value.none?(Array)
      findings = answers.filter_map do |check, (what, mend)|
        Finding.new(check: check, what: what, mend: mend) if what.is_a?(String)
      end
      sound = answers.filter_map { |check, answer| [check, CHECKS.fetch(check)] if answer == :sound }.to_h
      Report.new(path: @path, findings: findings, sound: sound)
    end

    private

    def answers_of(checks)
      checks.to_h { |check| [check, send(check)] }
    end

    # A check answers :sound, nil where it cannot be made here, or what is wrong and the command that mends it.
    include KindChecks
    include FileChecks
    include PlaceChecks
    include UseChecks

    def info
      @info ||= File.lstat(@path)
    end

    # Bytes of the cache, where it opens. Its file may have been extended since it was made.
    def bytes
      @stats ? @stats[:size_bytes] : info.size
    end

    # Of the file and its lock file, those that are there.
    def files
      [@path, @lock].select { |file| kind_of(file) == "file" }
    end

    def both
      files.map { |file| quoted(file) }.join(" ")
    end

    # As a shell takes it.
    def quoted(word)
      Shellwords.escape(word)
    end

    def resize(bytes)
      "larder resize #{quoted(@path)} #{mebibytes(bytes)}MB"
    end

    def mebibytes(bytes)
      [(bytes >> 20), 1].max
    end

    def shown(bytes)
      format("%.1f MiB", bytes.fdiv(1 << 20))
    end
  end
end
