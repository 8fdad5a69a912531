# frozen_string_literal: true

# bench/profile: runs `fetch` under callgrind, which counts within the C function of `fetch` only, and adds up what
# callgrind attributes to each step's functions and source files.

require "fileutils"
require "open3"
require "rbconfig"
require "tmpdir"
require_relative "../../lib/larder/cli/command"

module Bench
  # A hit and a fill, in instructions a call.
  class Profile < Larder::CLI::Command
    KINDS = %w[hit fill].freeze
    BANNER = <<~TEXT
      usage: bench/profile [hit] [fill]

      Prints how many instructions each step of `Rails.cache.fetch` takes: `hit` a call that finds its entry, `fill` one
      that misses, runs its block and writes. Without a word it prints both. It needs valgrind, and the compiled
      extension: bundle exec rake compile. docs/profile.md explains the tables.

      Options:
    TEXT
    ROOT = File.expand_path("../..", __dir__)
    CALLS = 20_000
    WARM = 200

    # A fill is counted with as many misses; the few warming ones of a hit are misses too, and are taken off as such.
    SCRIPT = <<~RUBY.freeze
      require "active_support"
      require "active_support/core_ext/integer/time"
      require "active_support/core_ext/numeric/time"
      require "active_support/cache/larder_store"
      ActiveSupport::Cache.format_version = 7.1
      store = ActiveSupport::Cache::LarderStore.new(File.join(ARGV[0], "p.larder"), size: 64 << 20)
      fill = ARGV[1] == "fill"
      GC.disable
      i = 0
      while i < #{CALLS}
        store.fetch(["key", fill ? i : i % #{WARM}], expires_in: 5.minutes) { "Hello World!" }
        i += 1
      end
    RUBY

    # Steps by what callgrind calls them: inclusive of what a function calls, or a source file's share of a function.
    STEPS = {
      "may it be answered here (patches, listeners, the log, the store's handle)" => { inclusive: "fast_ready" },
      "options of the store and of the call" => { inclusive: "fast_options_merge" },
      "the key" => { inclusive: "fast_key_expand" },
      "the engine's get" => { inclusive: "larder_get" },
      "  of it: hashing" => { own: %r{hash\.h:larder_get} },
      "  of it: copying and checksum" => { own: %r{crc\.h:larder_get} },
      "the engine's set" => { inclusive: "larder_set" },
      "options for the block, as a Hash" => { inclusive: "fast_options_hash" },
      "the block's second argument" => { inclusive: "fast_write_options" },
      "the caller's block" => { inclusive: "rb_yield_values2" },
      "the value as a Ruby object" => { inclusive: "plain_load" },
      "has it expired" => { inclusive: "fast_has_passed" }
    }.freeze
    private_constant :KINDS, :BANNER, :ROOT, :SCRIPT, :STEPS

    private

    def parser
      @parser ||= explained(BANNER)
    end

    def operands(rest)
      unknown = rest - KINDS
      raise Larder::CLI::UsageError, "unknown #{unknown.first.inspect}; known: #{KINDS.join(", ")}" if unknown.any?

      @kinds = rest.empty? ? KINDS : rest
    end

    def act
      unless system("valgrind", "--version", out: File::NULL)
        raise Larder::CLI::Failure, "valgrind is missing; install it (Debian: apt-get install valgrind)"
      end

      @kinds.each { |kind| print_table(kind, count(kind)) }
      Larder::CLI::OK
    end

    def count(kind)
      Dir.mktmpdir("larder-profile") do |directory|
        out = File.join(directory, "callgrind.out")
        command = ["valgrind", "--tool=callgrind", "--toggle-collect=fast_fetch", "--callgrind-out-file=#{out}",
                   RbConfig.ruby, "-rbundler/setup", "-I#{File.join(ROOT, "lib")}", "-e", SCRIPT, directory, kind]
        _, errors, status = Open3.capture3(*command)
        raise Larder::CLI::Failure, "callgrind failed: #{errors.lines.last}" unless status.success?

        [annotated(out, "--inclusive=yes"), annotated(out, "--inclusive=no")]
      end
    end

    # @return [Array<Array(Integer, String)>] instructions and "file:function"
    def annotated(out, way)
      text, = Open3.capture2("callgrind_annotate", way, "--threshold=100", out)
      text.scan(%r{^\s*([\d,]+)\s+\([ \d.]+%\)\s+(\S+)}).map { |number, name| [number.delete(",").to_i, name] }
    end

    def print_table(kind, counts)
      inclusive, own = counts
      total = function(inclusive, "fast_fetch")
      @out.puts("#{kind}: #{per_call(total)} instructions a call of fetch")
      STEPS.each do |step, where|
        found = where[:own] ? files(own, where[:own]) : function(inclusive, where[:inclusive])
        @out.puts(format("  %6d  %4.1f %%  %s", per_call(found), 100.0 * found / total, step)) if found.positive?
      end
      @out.puts
    end

    def function(counts, name)
      counts.filter_map { |number, at| number if at.end_with?(":#{name}") }.max || 0
    end

    def files(counts, pattern)
      counts.sum { |number, at| pattern.match?(at) ? number : 0 }
    end

    def per_call(instructions)
      (instructions / CALLS.to_f).round
    end
  end
end
