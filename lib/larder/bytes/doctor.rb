# frozen_string_literal: true

# Checks a cache and its location for problems: the list of checks, and the report. A check changes nothing.

require_relative "application"
require_relative "companions"
require_relative "remedy"
require_relative "size"

module Larder
  # Finds the problems of a cache and its location, and the commands that fix them. `larder doctor` is the same outside
  # of the application; within it, the fast path is checked, too.
  #
  # @example
  #   puts Larder::Doctor.run(Rails.cache)
  class Doctor
    # A problem: the name of the check, what is wrong, and the command that fixes it.
    Finding = Struct.new(:check, :what, :fix, keyword_init: true) do
      # @return [String]
      def to_s
        "#{what}\n  #{fix}"
      end
    end

    # The result of all checks: `findings`, and `sound`, a sentence for each check that found no problem.
    Report = Struct.new(:path, :findings, :sound, keyword_init: true) do
      # @return [Boolean] did no check find a problem?
      def sound?
        findings.empty?
      end

      # @return [String] for people
      def to_s
        sound? ? "#{Remedy.shown(path)} has no problems" : findings.join("\n")
      end
    end

    # Required here, because they reopen this class.
    require_relative "doctor/kind_checks"
    require_relative "doctor/file_checks"
    require_relative "doctor/place_checks"
    require_relative "doctor/use_checks"
    require_relative "doctor/heap_check"

    # The checks in their order, and what each says if it finds no problem. Some use the results of those before them.
    CHECKS = {
      kind: "it is a cache of Larder's",
      attributes: "its attributes allow changes",
      owner: "its files belong to the owner of their directory",
      mode: "no other user may read or write its files",
      opens: "it opens",
      memory: "it fits into the memory limit",
      hints: "its hints take memory outside the file",
      space: "its disk space is reserved",
      layer: "it is not in a container's own layer",
      copies: "there are no copies of it beside it",
      git: "git ignores it",
      size: "it has the configured size",
      damage: "no damage was found in it",
      pressure: "it is not full with few hits",
      pinned: "it has room for more pinned items",
      locks: "no stopped process keeps it locked",
      processes: "it has room for more processes",
      configurations: "it has room for the configurations of its stores",
      journal: "changes that the store behind it does not take are listed",
      remote: "the store behind it has all changes",
      fast_path: "simple calls are answered in C",
      heap: "its processes keep the memory of long values"
    }.freeze
    # If one of these finds a problem, the others are skipped: their commands would not help for a file that is not
    # Larder's or that cannot be changed.
    FIRST = %i[kind attributes].freeze
    # These start other programs, or read other files of the directory.
    LONG = %i[copies git journal].freeze
    private_constant :CHECKS, :FIRST, :LONG

    # @param subject [String, Pathname, #cache] the path of an existing file, or a LarderStore
    # @param sessions [#call, nil] gets the open Cache and answers whether it holds sessions; nil: it holds none
    # @param size [Integer, nil] bytes that the application gives to a new file; nil: those of the store, if it is one
    # @param quick [Boolean] true: without the checks that start other programs or read other files; for a process that
    #   has the cache open, as it does not open the lock file
    # @return [Report]
    # @raise [ArgumentError, TypeError, OpenError] the subject, the sessions or the size is something else
    def self.run(subject, sessions: nil, size: nil, quick: false)
      new(subject, sessions, size: size, quick: quick).report
    end

    # @param subject (see .run)
    # @param sessions [#call, nil]
    # @param size [Integer, nil] see {.run}
    # @param quick [Boolean] see {.run}
    def initialize(subject, sessions = nil, size: nil, quick: false)
      @asks_sessions = asking(sessions)
      @quick = quick
      @store = subject if subject.respond_to?(:cache) && subject.cache.is_a?(Cache)
      @wanted_size = size ? Options.size_bytes(size) : @store&.cache&.wanted_size
      @path = File.absolute_path(@store ? @store.cache.path : name_of(subject)).dup.force_encoding(Encoding::UTF_8)
      @lock = "#{@path}.lock"
    end

    # @return [Report]
    def report
      answers = answers_of(FIRST)
      answers.update(answers_of(CHECKS.keys - FIRST - (@quick ? LONG : []))) if answers.each_value.none?(Array)
      findings = answers.filter_map do |check, (what, fix)|
        Finding.new(check: check, what: Remedy.shown(what), fix: Remedy.shown(fix)) if what.is_a?(String)
      end
      sound = answers.filter_map { |check, (kind, text)| [check, text || CHECKS.fetch(check)] if kind == :sound }.to_h
      Report.new(path: @path, findings: findings, sound: sound)
    end

    private

    def name_of(subject)
      name = subject.respond_to?(:to_path) ? subject.to_path : subject
      unless name.is_a?(String)
        raise ::ArgumentError, "a doctor checks the path of a file or a LarderStore, not #{subject.inspect}"
      end

      wrong = Application.objection(name)
      wrong ? raise(::ArgumentError, wrong) : name
    end

    def asking(sessions)
      return sessions if sessions.nil? || sessions.respond_to?(:call)

      raise ::ArgumentError, "sessions: #{sessions.inspect} must respond to call, which gets the open cache"
    end

    def answers_of(checks)
      checks.to_h { |check| [check, send(check)] }
    end

    # A check returns :sound, also with a sentence of its own, or nil if it does not apply here, or what is wrong and
    # the command that fixes it.
    include KindChecks
    include FileChecks
    include PlaceChecks
    include UseChecks
    include HeapCheck

    def info
      @info ||= File.lstat(@path)
    end

    # Bytes of the cache, if it opens; the file may have been extended later.
    def bytes
      @stats ? @stats[:size_bytes] : info.size
    end

    # The file and its lock file, if they exist.
    def files
      [@path, @lock].select { |file| kind_of(file) == "file" }
    end

    # The file and all that belong to it.
    #
    # @return [Hash{String=>File::Stat}] by path
    def all_files
      @all_files ||= [*files, *Companions.of(@path).keys].uniq.filter_map do |file|
        [file, File.lstat(file)] if kind_of(file) == "file"
      rescue Errno::ENOENT
        nil # a process of the application has removed it
      end.to_h
    end

    # Escaped for a shell.
    def quoted(*words)
      words.map { |word| Remedy.quoted(word) }.join(" ")
    end

    def names(files)
      files.map { |file| Remedy.shown(File.basename(file)) }.join(", ")
    end

    # Opens the file again, and only for a finding: the answer counts as a read.
    def sessions?
      return @sessions if defined?(@sessions)

      @sessions = @asks_sessions ? Cache.open(@path, create: false) { |cache| @asks_sessions.call(cache) } : false
    end

    # @param size [Integer, String] bytes, or as the command takes it
    # @param keep [Boolean] should the items be copied? Sessions always are
    def resize(size, keep: sessions?)
      size = "#{mebibytes(size)}MB" if size.is_a?(Integer)
      file = "#{quoted(@path)} #{quoted(size)}"
      return "larder resize --keep #{file} # while the application is stopped" if keep

      "larder resize #{file} # replaces the cache by an empty one"
    end

    def mebibytes(bytes)
      [(bytes >> 20), 1].max
    end
  end
end
