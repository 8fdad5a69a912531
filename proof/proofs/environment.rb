# frozen_string_literal: true

require_relative "../support/base"
require_relative "../support/file_systems"

module Proof
  # Changes the world around live caches. docs/assumptions.md says what is assumed of it, and which of these varies it.
  class Environment < Base
    NAME = "environment"
    TITLE = "Whatever the pages, file systems, containers, users, copies and limits, nothing wrong is answered"
    HELP = "page sizes, file systems, namespaces, boot ids, owners, copies put back, control groups, versions"

    # Programs that meet pages and file systems most: maps, locks, opening, replacing, survival. The first three are the
    # bounded part.
    ON_PAGES = ["proof/environment_pages", "test/existing_test", "test/creation_test", "test/fork_test",
                "test/bytelock_test", "test/survival_test"].freeze

    # Those for file systems; the first two are the bounded part.
    ON_FILE_SYSTEMS = ["test/process_test", "test/survival_test", "test/existing_test", "test/creation_test",
                       "test/bytelock_test", "proof/environment_liveness", "proof/environment_pages",
                       "proof/environment_copies", "proof/environment_containers",
                       "proof/environment_deploy"].freeze

    # Those that close descriptors of the lock file, which where a map does not keep it open drops the locks.
    NOT_ON = { "overlay" => ["test/bytelock_test", "proof/environment_liveness"] }.freeze

    # What a machine can have, and the bounded part of it.
    PAGE_BYTES = { true => ["65536"], false => ["16384", "65536"] }.freeze
    FILE_SYSTEMS = { true => ["overlay"], false => FileSystems::MOUNTS.keys }.freeze

    # @return [String, nil]
    def missing
      "namespaces and control groups are those of Linux" unless RUBY_PLATFORM.include?("linux")
    end

    # @param report [Proof::Report]
    # @return [void]
    def attack(report)
      worlds(report)
      pages(report)
      file_systems(report)
      builds(report)
    end

    private

    # Two builds of the gem at once: this one, and one whose format number is one higher.
    def builds(report)
      return unless other_build(report)

      argv = ["bundle", "exec", "ruby", "-w", "proof/deploy/program.rb", work("other"), quick ? "2" : "60",
              (quick ? 1 : Random.new_seed % 1_000_000_000).to_s]
      run(report, argv, env: House::Environment.variables, log: "deploy")
    end

    # Makes its extension in work("other"), as the engine's Makefile makes the objects of the next version. ARCH_FLAG is
    # the last of the compiler's flags.
    def other_build(report)
      flag = File.read(File.join(ROOT, "engine/Makefile"))[/^NEXT_FORMAT = (\S+)/, 1]
      configure = ["bundle", "exec", "ruby", File.join(ROOT, "ext/larder/extconf.rb"), "--with-cppflags=#{flag}"]
      build = work("other/build")
      run(report, configure, env: House::Environment.variables, dir: build, log: "extconf") &&
        run(report, ["make", "-j#{Etc.nprocessors}", "V=0", "ARCH_FLAG=-O0"], dir: build, log: "other build") &&
        FileUtils.cp(File.join(build, "larder.so"), work("other/larder")).nil?
    end

    def worlds(report)
      programs = Dir[File.join(ROOT, "engine/test/proof/environment_*.c")].map { |path| File.basename(path, ".c") }.sort
      programs.each do |name|
        program = built(report, "proof/#{name}")
        run(report, [program], env: environment) if program
      end
    end

    def pages(report)
      shim = built(report, "page_size.so") or return
      PAGE_BYTES.fetch(quick).product(ON_PAGES.first(quick ? 1 : ON_PAGES.size)) do |bytes, target|
        program = built(report, target) or next
        env = { **environment, "LD_PRELOAD" => shim, "LARDER_PAGE_BYTES" => bytes }
        log = "#{File.basename(target)} on pages of #{bytes}"
        attempt(report, [program], env, log, "pages of #{bytes} bytes")
      end
    end

    def file_systems(report)
      FILE_SYSTEMS.fetch(quick).each do |name|
        missing = FileSystems.missing(name)
        next report.note("not run here: the file system #{name}, for #{missing}") if missing

        targets = ON_FILE_SYSTEMS.first(quick ? 1 : ON_FILE_SYSTEMS.size) - NOT_ON.fetch(name, [])
        targets.each do |target|
          program = built(report, target) or next
          attempt(report, FileSystems.on(name, [program]), environment, "#{File.basename(target)} on #{name}", name)
        end
      end
    end

    # Counts the cases that passed there, beside what the program counts itself.
    def attempt(report, argv, env, log, where)
      return unless run(report, argv, env: env, log: log)

      report.count("cases on #{where}", Integer(last_output[/^\S.*: (\d+) tests, 0 failed/, 1] || 0))
    end

    # @return [String, nil] the path of a program of the engine's Makefile
    def built(report, target)
      program = File.join(shared_build, target)
      program if make(report, program)
    end

    def environment
      quick ? { "LARDER_SURVIVE_SECONDS" => "0.5" } : { "LARDER_PROOF_FULL" => "1", "LARDER_SURVIVE_SECONDS" => "20" }
    end
  end
end
