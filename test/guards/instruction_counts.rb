# frozen_string_literal: true

# Counts instructions: builds what is counted, runs it under callgrind, reads what callgrind dumped, and
# keeps the record (instruction_counts.yml). Judges nothing; the test does.

require "fileutils"
require "json"
require "open3"
require "rbconfig"
require "yaml"

module Guards
  # What cannot be counted here, and why.
  class Unavailable < StandardError; end

  # Counts of this machine's build, and those on record.
  module InstructionCounts
    ROOT = File.expand_path("../..", __dir__)
    RECORD = File.join(__dir__, "instruction_counts.yml")
    BUILD = File.join(ROOT, "tmp/guards")
    HEADING = <<~TEXT
      # Instructions a call, counted by callgrind: exact for C, within 0.5 % for Ruby; objects that a call allocates.
      # Written by `bundle exec rake guards:record`. A change of these figures is a change of speed: say so in the commit.
    TEXT

    module_function

    # @return [Hash{String => Float}] instructions a call of the engine
    def of_engine
      in_directory do |directory|
        program = build_engine
        output = callgrind(directory, [program, directory])
        calls = Integer(output[/\A(\d+) calls of each/, 1])
        dumps(directory).transform_values { |instructions| instructions.fdiv(calls).round(4) }
      end
    end

    # @return [Hash{String => Float}] instructions a call of the Rails store or of sessions, and objects it allocates
    def of_ruby
      in_directory do |directory|
        output = ruby_under_callgrind(directory, File.join(__dir__, "operations.rb"))
        per_call(JSON.parse(output.lines.last), dumps(directory))
      end
    end

    # Runs a Ruby script that counts between Meter.start and Meter.stop, which dumps into `directory`/counted.1, .2, ...
    # @param directory [String] see {in_directory}
    # @param script [String] its ARGV: the library of Meter, the directory, `arguments`
    # @param options [Array<String>] of callgrind
    # @return [String] what it printed
    def ruby_under_callgrind(directory, script, *arguments, options: [])
      meter = build_library("meter", ruby: true)
      argv = [*options, RbConfig.ruby, "--disable=did_you_mean,error_highlight", "-I#{File.join(ROOT, "lib")}",
              "-rbundler/setup", script, meter, directory, *arguments]
      callgrind(directory, argv, preload: build_library("fixed"))
    end

    # Names what the counts of the engine hold for.
    # @return [String]
    # @raise [Unavailable]
    def engine_key
      ensure_tools
      "#{machine}, #{compiler}, #{libc}, #{valgrind}"
    end

    # Names what the counts of the Rails store hold for.
    # @return [String]
    # @raise [Unavailable]
    def ruby_key
      ensure_tools
      "#{machine}, ruby #{RUBY_VERSION}, activesupport #{activesupport}, #{compiler}, #{libc}, #{valgrind}"
    end

    # @return [Hash{String => Hash}] "engine" and "ruby", each with counts by key
    def recorded
      empty = { "engine" => {}, "ruby" => {} }
      File.exist?(RECORD) ? empty.merge(YAML.safe_load_file(RECORD)) : empty
    end

    # Counts, and keeps the result beside those of other combinations.
    # @return [void]
    def record
      counts = recorded
      counts["engine"][engine_key] = of_engine
      counts["ruby"][ruby_key] = of_ruby
      sorted = counts.transform_values { |by_key| by_key.sort.to_h }
      File.write(RECORD, HEADING + YAML.dump(sorted, line_width: -1))
    end

    # @raise [Unavailable] naming what is missing
    def ensure_tools
      raise Unavailable, "instructions are counted on Linux only" unless RbConfig::CONFIG["host_os"].include?("linux")

      ["valgrind", "setarch", "make", "cc"].each do |program|
        found = ENV.fetch("PATH").split(":").any? { |directory| File.executable?(File.join(directory, program)) }
        raise Unavailable, "#{program} is not installed (bin/setup installs it as root on Debian)" unless found
      end
      return if compiles?("#include <valgrind/callgrind.h>")

      raise Unavailable, "valgrind/callgrind.h is not installed (it comes with valgrind)"
    end

    def compiles?(source)
      Open3.capture2e("cc", "-E", "-xc", "-", stdin_data: "#{source}\n").last.success?
    end

    # Of the same name in each run, because even that moves objects and symbols about; so one run at a time.
    def in_directory
      directory = File.join(BUILD, "work")
      FileUtils.mkdir_p(BUILD)
      File.open(File.join(BUILD, ".lock"), File::CREAT | File::RDWR) do |lock|
        lock.flock(File::LOCK_EX)
        FileUtils.rm_rf(directory)
        Dir.mkdir(directory, 0o700)
        yield directory
      ensure
        FileUtils.rm_rf(directory)
      end
    end

    # Apart from other builds of the engine, and always with the Makefile's own flags.
    # @param name [String] of the program
    def build_engine(name = "bench-count")
      directory = File.join(BUILD, "engine")
      flags = ["MAKEFLAGS", "CFLAGS", "OPTIMIZE", "EXTRA", "CC", "DEV"].to_h { |flag| [flag, nil] }
      run(flags, "make", "--silent", "-C", File.join(ROOT, "engine"), "BUILD=#{directory}", "#{directory}/#{name}")
      File.join(directory, name)
    end

    def build_library(name, ruby: false)
      includes = ruby ? RbConfig::CONFIG.values_at("rubyhdrdir", "rubyarchhdrdir").map { |path| "-I#{path}" } : []
      library = File.join(BUILD, "#{name}.so")
      run({}, "cc", "-O1", "-shared", "-fPIC", *includes, File.join(__dir__, "#{name}.c"), "-o", library)
      library
    end

    # A bare environment and fixed addresses: both decide where things lie, and so how often they collide.
    def callgrind(directory, argv, preload: nil)
      kept = ENV.to_h.slice("PATH", "BUNDLE_GEMFILE", "BUNDLE_PATH", "GEM_HOME", "GEM_PATH")
      environment = kept.merge("HOME" => directory, "LANG" => "C.UTF-8", "LD_PRELOAD" => preload).compact
      run(environment, "setarch", RbConfig::CONFIG["host_cpu"], "-R", "valgrind", "-q", "--tool=callgrind",
          "--instr-atstart=no", "--callgrind-out-file=#{directory}/counted", *argv, unsetenv_others: true)
    end

    # @return [Hash{String => Integer}] instructions by the name under which they were dumped
    def dumps(directory)
      files = Dir[File.join(directory, "counted.*")].sort_by { |path| path[/\d+\z/].to_i }
      found = files.to_h do |path|
        text = File.read(path, encoding: "UTF-8")
        [text[/^desc: Trigger: Client Request: (.+)$/, 1], Integer(text[/^totals: (\d+)$/, 1])]
      end
      raise "callgrind dumped nothing" if found.empty?

      found
    end

    def per_call(said, instructions)
      said.fetch("objects").each_with_object({}) do |(name, objects), counts|
        more = instructions.fetch("#{name}: 2n") - instructions.fetch("#{name}: n")
        counts[name] = more.fdiv(said.fetch("calls")).round(1)
        counts["#{name}: objects"] = objects.round(2)
      end
    end

    # @return [String] what the command printed
    def run(environment, *command, **options)
      output, error, status = Open3.capture3(environment, *command, chdir: ROOT, **options)
      status.success? ? output : raise("#{command.join(" ")}: #{status}\n#{output}#{error}")
    end

    # libc chooses its copies by what the processor can do.
    def machine
      avx2 = File.foreach("/proc/cpuinfo", encoding: "BINARY").any? { |line| line.match?(/^flags\s*:.*\bavx2\b/) }
      [RbConfig::CONFIG["host_cpu"], ("avx2" if avx2)].compact.join(" ")
    end

    def compiler
      version = run({}, "cc", "-dumpfullversion")
      name = run({}, "cc", "--version").include?("clang") ? "clang" : "gcc"
      "#{name} #{version[/\A\d+\.\d+/]}"
    end

    def libc
      "libc #{run({}, "getconf", "GNU_LIBC_VERSION")[/\d+\.\d+/]}"
    end

    def valgrind
      "valgrind #{run({}, "valgrind", "--version")[/\d+\.\d+/]}"
    end

    def activesupport
      require "active_support/version"
      ActiveSupport::VERSION::STRING
    end

    private_class_method :compiles?, :build_library, :callgrind, :dumps, :per_call, :machine, :compiler,
                         :libc, :valgrind, :activesupport
  end
end
