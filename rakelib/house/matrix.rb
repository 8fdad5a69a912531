# frozen_string_literal: true

# Which combinations of Rails, Ruby, compiler, optimization level, sanitizer and processor bin/test --matrix tests, and
# what each runs.

require_relative "../../lib/larder/cli/errors"
require_relative "environment"
require_relative "matrix_cell"
require_relative "suites"

module House
  # All cells. `CLANG` in a command becomes the clang that is there.
  class Matrix
    LEVELS = ["O0", "O1", "O2", "O3", "Os"].freeze
    HERE = "C alone"

    THOUSANDS = "a process for each of thousands of calls; ASan runs it"

    # Tests of the engine that cannot hold under something, or take hours there, and why.
    WITHOUT = {
      valgrind: {
        "survival_test" => "kills processes at random by the clock; a killed one reports nothing",
        "flooding_test" => "stores chosen keys until a shard is full, which takes minutes",
        "damage_test" => "two minutes without valgrind's twentyfold",
        "process_test" => "measures how soon a dead owner's lock is taken over",
        "calls_test" => THOUSANDS,
        "calls_use_test" => THOUSANDS,
        "calls_exchange_test" => THOUSANDS,
        "calls_sweep_test" => THOUSANDS,
        "sigbus_test" => "limits memory to less than a file, and valgrind needs more than that",
        "opening_test" => "limits descriptors, and valgrind keeps some for itself"
      },
      msan: {
        "advice_test" => "a limit of memory, which the sanitizer's shadow of the file is above",
        "memory_limit_test" => "the same"
      },
      qemu: {
        "advice_test" => "qemu-user keeps madvise from the kernel: no advice on how pages are read",
        "bytelock_test" => "and none on what a child made by fork or clone has of them",
        "opening_test" => "so a child without a slot counts as a process that uses the file",
        "unattached_test" => "the same",
        "hints_memory_test" => "limits memory to less than qemu-user needs",
        "calls_test" => THOUSANDS,
        "calls_use_test" => THOUSANDS,
        "calls_exchange_test" => THOUSANDS,
        "versions_test" => "qemu-user runs one program; this one starts others"
      }
    }.freeze

    # @param tests [Array<String>, nil] only these of the engine's tests, as in "cache_test"; nil: all
    def initialize(tests: nil)
      @tests = tests
    end

    # @return [Array<House::MatrixCell>]
    def cells
      rails_cells + slow_cells + level_cells + sanitizer_cells + valgrind_cells + ruby_cells + processor_cells
    end

    # @param names [Array<String>] of cells, or what their names begin with; none: all
    # @return [Array<House::MatrixCell>]
    # @raise [Larder::CLI::UsageError] where a name fits none
    def choose(names)
      return cells if names.empty?

      names.flat_map { |name| fitting(name) }.uniq(&:name)
    end

    private

    def fitting(name)
      all = cells
      found = all.select { |cell| cell.name == name }
      found = all.select { |cell| cell.name.start_with?("#{name}-") } if found.empty?
      return found unless found.empty?

      raise Larder::CLI::UsageError, "no such cell of the matrix: #{name}; known: #{all.map(&:name).join(", ")}"
    end

    def rails_cells
      old = ["7.1", "7.2"].map do |rails|
        MatrixCell.new("rails-#{rails}", { stack: "Ruby 3.1, Rails #{rails}" },
                       ["bin/test", "--rails", rails, "--only", "build,ruby", *inner(rails)], needs: [:old_ruby])
      end
      old + ["8.0", "8.1"].map { |rails| trixie_cell(rails) } + yjit_cells + [trixie_engine_cell]
    end

    # Rails turns YJIT on where Ruby has it; Debian's Rubies do not.
    def yjit_cells
      Stack::SOURCES.keys.map do |name|
        MatrixCell.new(name, { stack: "#{name}, Rails 8.1" },
                       ["ruby", "-w", "rakelib/house/stack.rb", name, "--only", "build,ruby"], needs: [:trixie],
                                                                                               weight: 600)
      end
    end

    def trixie_cell(rails)
      MatrixCell.new("rails-#{rails}", { stack: "trixie, Ruby 3.3, Rails #{rails}" },
                     [*TRIXIE, "--only", "build,ruby", "--rails", rails], needs: [:trixie], weight: 400)
    end

    def trixie_engine_cell
      MatrixCell.new("gcc14-O3", { stack: "trixie, C alone", compiler: "gcc 14", level: "O3" },
                     [*TRIXIE, "--only", "engine"], needs: [:trixie], weight: 400)
    end

    TRIXIE = ["ruby", "-w", "rakelib/house/stack.rb", "trixie"].freeze
    private_constant :TRIXIE

    # Logs of its own: bin/test may be what runs the matrix.
    def inner(name)
      ["--no-system", "--jobs", "1", "--logs", File.join(ROOT, "tmp/matrix", name)]
    end

    # What takes long and rarely fails: bin/test leaves it to the matrix.
    def slow_cells
      slow = { "lab-slow" => "build,lab", "ruby-slow" => "build,ruby,tools" }.map do |name, suites|
        MatrixCell.new(name, { stack: "this Ruby", under: "slow tests" },
                       ["bin/test", "--slow", "--only", suites, *inner(name)], weight: 400)
      end
      proofs = (Suites::PROOFS_OF_MATRIX - ["matrix"]).map do |name|
        MatrixCell.new("proof-#{name}", { stack: "this Ruby", under: "quick run" }, ["bin/proof", "--quick", name],
                       kind: :one)
      end
      [*slow, *proofs, MatrixCell.new("proof-faults", { stack: "this Ruby", under: "each call with each errno" },
                                      ["bin/proof", "faults"], kind: :one)]
    end

    def level_cells
      # The crash points beside the tests, where the code is as different as it gets.
      plain = ["gcc", "clang"].product(LEVELS).map do |compiler, level|
        engine("#{compiler}-#{level}", compiler, level, target: ["O0", "O3"].include?(level) ? "test" : "unit-test")
      end
      plain + [engine("gcc-lto", "gcc", "O3", under: "link-time optimization", extra: GCC_AS_A_WHOLE),
               engine("clang-lto", "clang", "O3", under: "link-time optimization", extra: "-flto", needs: [:lld],
                                                  variables: { "LINK" => "-fuse-ld=lld" })]
    end

    # Seen as a whole, gcc warns of tests that go on after a check that did not hold, with what the call then did not
    # fill in, and of loops that would go wrong after 2**61 rounds.
    GCC_AS_A_WHOLE = "-flto=auto -Wno-maybe-uninitialized -Wno-aggressive-loop-optimizations"

    private_constant :GCC_AS_A_WHOLE

    def sanitizer_cells
      both = ["gcc", "clang"].flat_map do |compiler|
        [engine("#{compiler}-asan", compiler, "O1", under: "ASan, UBSan", target: "asan-test"),
         engine("#{compiler}-tsan", compiler, "O1", under: "TSan, threads", target: "tsan-test")]
      end
      both + [engine("clang-msan", "clang", "O1", under: "MSan", target: "msan-test", variables: without(:msan)),
              engine("pages", "gcc", "O3", under: "pages of 16 and 64 KiB", target: "pages-test")]
    end

    # memcheck alone: helgrind and drd know the locks of pthreads and no atomics, so that to them every read without a
    # lock is a race. ThreadSanitizer knows atomics.
    def valgrind_cells
      [engine("valgrind", "gcc", "O1", under: "memcheck", target: "valgrind-test", needs: [:valgrind],
                                       variables: without(:valgrind))]
    end

    def ruby_cells
      [MatrixCell.new("ruby-asan", { stack: "this Ruby", compiler: "gcc", level: "O1", under: "ASan, UBSan" },
                      ["ruby", "-w", "rakelib/house/sanitized_ruby.rb"], weight: 300),
       MatrixCell.new("ruby-valgrind", { stack: "this Ruby", compiler: "gcc", level: "O3", under: "memcheck" },
                      ["ruby", "-w", "rakelib/house/valgrind_ruby.rb"], needs: [:valgrind], weight: 300),
       MatrixCell.new("ruby-compact", { stack: "this Ruby", under: "every collection moves objects" },
                      ["bin/test", "--only", "build,ruby", *inner("compact")], env: { "LARDER_GC" => "compact" },
                                                                              weight: 300),
       MatrixCell.new("ruby-stress", { stack: "this Ruby", under: "a collection at each allocation" },
                      ["bin/test", *STRESSED, *inner("stress")], env: { "LARDER_GC" => "stress" }, weight: 300)]
    end

    # What each native method is called by. All of it would take hours; plain_values_test, which reads all flags over
    # all kinds of bytes, many minutes.
    STRESSED = ["test/larder/bytes/cache_test.rb", "test/larder/bytes/cache/multi_test.rb",
                "test/larder/store/records_test.rb", "test/larder/store/copies_test.rb",
                "test/active_support/cache/larder_store/fetch_test.rb",
                "test/active_support/cache/larder_store/multi_test.rb"].freeze
    private_constant :STRESSED

    def processor_cells
      arm = ["O0", "O2"].map do |level|
        engine("aarch64-#{level}", "aarch64-linux-gnu-gcc", level, under: "qemu-user", needs: [:aarch64, :qemu],
                                                                   target: "unit-test",
                                                                   variables: EMULATED.merge(without(:qemu)))
      end
      arm + [refusal("i686", "Larder needs a 64-bit machine"),
             refusal("s390x", "big-endian machines are not supported")]
    end

    # Real instructions and system calls of aarch64. Not its weaker order of loads and stores: on x86-64 the emulator's
    # threads have that of x86-64.
    EMULATED = { "LINK" => "-static", "RUN" => "qemu-aarch64-static" }.freeze
    private_constant :EMULATED

    def without(tool)
      { "WITHOUT" => WITHOUT.fetch(tool).keys.join(" ") }
    end

    # Compilation for an unsupported processor fails with a message.
    def refusal(machine, message)
      MatrixCell.new(machine, { stack: HERE, compiler: "#{machine}-linux-gnu-gcc", under: "refused at compile time" },
                     ["sh", "rakelib/house/refused.sh", "#{machine}-linux-gnu-gcc", message], needs: [machine.to_sym])
    end

    def engine(name, compiler, level, under: nil, target: "unit-test", extra: nil, needs: [], variables: {})
      settings = { "CC" => compiler == "clang" ? MatrixNeeds.clang : compiler, "BUILD" => "build/matrix/#{name}",
                   "DEV" => "1", "EXTRA" => extra, "TESTS" => @tests&.map { |test| "test/#{test}.c" }&.join(" ") }
      settings["OPTIMIZE"] = "-#{level}" unless target.end_with?("san-test", "valgrind-test")
      words = settings.merge(variables).compact.map { |key, value| "#{key}=#{value}" }
      needs += [:clang] if compiler == "clang"
      # What runs under something takes several times as long, and again on a busy machine.
      MatrixCell.new(name, { stack: HERE, compiler: compiler, level: level, under: under }.compact,
                     ["make", "-C", "engine", target, *words], needs: needs, weight: under ? 200 : 60)
    end
  end
end
