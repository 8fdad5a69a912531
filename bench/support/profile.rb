# frozen_string_literal: true

# bench/profile: runs `fetch` under callgrind, which counts within the C function of `fetch` only, and adds up what
# callgrind attributes to the functions of each step.

require_relative "callgrind_file"
require_relative "../../lib/larder/cli/command"
require_relative "../../test/guards/instruction_counts"

module Bench
  # A hit and a fill, in instructions a call.
  class Profile < Larder::CLI::Command
    BANNER = <<~TEXT
      usage: bench/profile [hit] [fill]

      Prints how many instructions each step of `Rails.cache.fetch` takes: `hit` a call that finds its entry, `fill` one
      that misses, runs its block and writes. Without a word it prints both. Two runs of a checkout print the same. It
      needs valgrind, and the compiled extension: bundle exec rake compile. docs/profile.md has the tables, and explains
      them.

      Options:
    TEXT
    CALLS = 20_000

    # A step: the functions whose instructions are its own, with what they call. If `of` is given, it is a part of the
    # step above: what source files of that name have in the function.
    Step = Struct.new(:name, :functions, :of) do
      # @param dump [Bench::CallgrindFile]
      # @return [Integer]
      # @raise [Larder::CLI::Failure] a function was not called: it has another name by now
      def instructions(dump)
        functions.sum do |function|
          found = of ? dump.own(function, of) : dump.inclusive(function)
          next found if found.positive?

          raise Larder::CLI::Failure, "no instruction of #{function}#{" from #{of.source}" if of} was counted for " \
                                      "#{name.inspect}; correct STEPS in bench/support/profile.rb"
        end
      end
    end

    # The steps of each kind of call, the largest first.
    STEPS = {
      "hit" => [
        Step.new("options of the store and of the call", ["fast_options_merge"]),
        Step.new("the engine's get", ["larder_get_allocated"]),
        Step.new("of it: hashing", ["larder_get_allocated"], %r{/(?:hash|siphash13)\.h\z}),
        Step.new("of it: copying and checksum", ["larder_get_allocated"], %r{/crc\.h\z}),
        Step.new("fast path checks: patches, listeners, the log, the store's handle", ["fast_guard_passes"]),
        Step.new("building the key on the C stack", ["fast_key_expand"]),
        Step.new("the value as a Ruby String", ["plain_load"])
      ],
      "fill" => [
        Step.new("the engine's set, of a new key while the index grows", ["larder_set"]),
        Step.new("options, read for the miss and again for the write", %w[fast_options_merge fast_options_take]),
        Step.new("options for the block, as a Hash of its own", ["fast_options_hash"]),
        Step.new("fast path checks, repeated after the block", ["fast_guard_passes"]),
        Step.new("building the key again, because the block may have changed the name", ["fast_key_expand"]),
        Step.new("the engine's get, a miss", ["larder_get_allocated"]),
        Step.new("the block's second argument, Rails' WriteOptions", ["fast_options_writable"]),
        Step.new("the caller's block", ["rb_yield_values2"])
      ]
    }.freeze
    private_constant :BANNER

    private

    def parser
      @parser ||= explained(BANNER)
    end

    def operands(rest)
      unknown = rest - STEPS.keys
      raise Larder::CLI::UsageError, "unknown #{unknown.first.inspect}; known: #{STEPS.keys.join(", ")}" if unknown.any?

      @kinds = rest.empty? ? STEPS.keys : rest
    end

    def act
      Guards::InstructionCounts.ensure_tools
      @kinds.each { |kind| print_table(kind, count(kind)) }
      Larder::CLI::OK
    rescue Guards::Unavailable => error
      raise Larder::CLI::Failure, error.message
    end

    # @return [Bench::CallgrindFile]
    def count(kind)
      Guards::InstructionCounts.in_directory do |directory|
        Guards::InstructionCounts.ruby_under_callgrind(
          directory, File.join(__dir__, "profiled_calls.rb"), kind, CALLS.to_s, options: ["--toggle-collect=fast_fetch"]
        )
        CallgrindFile.new(File.foreach(File.join(directory, "counted.1"), encoding: "UTF-8"))
      end
    end

    # As docs/profile.md has it.
    def print_table(kind, dump)
      rows = STEPS.fetch(kind).map { |step| [step, step.instructions(dump)] }
      rest = dump.total - rows.sum { |step, instructions| step.of ? 0 : instructions }
      @out.puts("## A #{kind}: #{per_call(dump.total)} instructions", "")
      @out.puts("| step | instructions | share |", "|---|---|---|")
      [*rows.map { |step, instructions| [step.name, instructions] }, ["the rest", rest]].each do |name, instructions|
        @out.puts("| #{name} | #{per_call(instructions)} | #{(100.0 * instructions / dump.total).round} % |")
      end
      @out.puts
    end

    def per_call(instructions)
      (instructions / CALLS.to_f).round.to_s.gsub(/(\d)(?=(\d{3})+\z)/, "\\1,")
    end
  end
end
