# frozen_string_literal: true

# One cell of the matrix, and what it needs on the machine.

require "open3"
require_relative "debian"
require_relative "job"
require_relative "stack"

module House
  # What a cell may need: how to see whether it is there, and which Debian packages bring it. bin/setup installs none of
  # these, for only the matrix uses them.
  module MatrixNeeds
    ALL = {
      clang: [["clang", "libclang-rt-dev"], -> { builds?(clang, "-fsanitize=address") }],
      lld: [["lld"], -> { builds?(clang, "-flto", "-fuse-ld=lld") }],
      valgrind: [["valgrind", "libc6-dbg"], -> { Environment.program?("valgrind") }],
      aarch64: [["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"], -> { builds?("aarch64-linux-gnu-gcc", "-static") }],
      qemu: [["qemu-user-static"], -> { Environment.program?("qemu-aarch64-static") }],
      i686: [["gcc-i686-linux-gnu", "libc6-dev-i386-cross"], -> { builds?("i686-linux-gnu-gcc") }],
      s390x: [["gcc-s390x-linux-gnu", "libc6-dev-s390x-cross"], -> { builds?("s390x-linux-gnu-gcc") }],
      trixie: [["debootstrap"], -> { Stack.missing.nil? }],
      old_ruby: [[], -> { RUBY_VERSION < "3.2" }]
    }.freeze

    SAYS = { trixie: "root, unshare, chroot and debootstrap", old_ruby: "Ruby 3.1, whose Rails are 7.1 and 7.2" }.freeze
    private_constant :SAYS

    module_function

    # @param needs [Array<Symbol>] keys of ALL
    # @return [Array<Symbol>] those that are not met
    def unmet(needs)
      needs.uniq.reject { |need| met?(need) }
    end

    # @return [Boolean] asked once for each need
    def met?(need)
      @met ||= {}
      @met.fetch(need) { @met[need] = ALL.fetch(need).last.call }
    end

    # Brings what Debian has of it, as root.
    #
    # @return [void]
    def install(needs)
      packages = unmet(needs).flat_map { |need| ALL.fetch(need).first }
      return if packages.empty? || !Debian.packages?

      warn "matrix: installing Debian packages: #{packages.join(" ")}"
      # One name that this release does not have must not keep the others out.
      Debian.install(packages) || packages.each { |name| Debian.install([name]) }
      @met = {}
    end

    # @return [String, nil] for a person: what is missing
    def describe(needs)
      lacking = unmet(needs)
      return if lacking.empty?

      texts = lacking.map { |need| SAYS[need] || "#{ALL.fetch(need).first.join(", ")} (Debian packages)" }
      "needs #{texts.join("; ")}"
    end

    # @return [String] the newest clang without a number, or Debian bookworm's with one
    def clang
      ["clang", "clang-14"].find { |name| Environment.program?(name) } || "clang"
    end

    # @return [Boolean] whether a compiler makes a program with these options
    def builds?(compiler, *options)
      return false unless Environment.program?(compiler)

      program = "int main(void) { return 0; }"
      _, status = Open3.capture2e(compiler, *options, "-pthread", "-xc", "-", "-o", File::NULL, stdin_data: program)
      status.success?
    end
  end

  # One combination that is tried.
  class MatrixCell
    # @return [String] unique; also what chooses it on the command line
    attr_reader :name

    # @return [Hash{Symbol => String}] :stack, :compiler, :level, :under
    attr_reader :facts

    # @return [Array<Symbol>] keys of MatrixNeeds::ALL
    attr_reader :needs

    # @param name [String]
    # @param facts [Hash{Symbol => String}] what is tried
    # @param argv [Array<String>] the command, from the root of the checkout
    # @param needs [Array<Symbol>]
    # @param settings [Hash] of House::Job: env:, weight:
    def initialize(name, facts, argv, needs: [], **settings)
      @name = name
      @facts = facts
      @argv = argv
      @needs = needs
      @settings = { weight: 60 }.merge(settings)
    end

    # @return [House::Job]
    def job
      Job.new(name, suite: "matrix", argv: @argv, missing: MatrixNeeds.describe(needs), **@settings)
    end
  end
end
