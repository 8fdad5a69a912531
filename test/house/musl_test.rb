# frozen_string_literal: true

require "test_helper"
require "fileutils"
require "open3"
require "tmpdir"

module House
  # The engine and the extension compile where the C library is musl, as on Alpine, with nothing but musl's headers.
  # Not covered: a Ruby that was built with musl, so the extension is not linked or run; the tests of failing calls,
  # which put functions of glibc in their place.
  class MuslTest < ActiveSupport::TestCase
    ROOT = File.expand_path("../..", __dir__)
    ENGINE = File.join(ROOT, "engine")
    WARNINGS = ["-Wall", "-Wextra", "-Werror"].freeze

    setup do
      skip "musl-gcc is not installed (Debian: musl-tools)" unless system("musl-gcc --version", out: File::NULL,
                                                                                                err: File::NULL)
    end

    test "the engine builds with musl, and a program that is linked statically passes a test of it" do
      Dir.mktmpdir("larder-musl") do |directory|
        program = "#{directory}/test/cache_test"
        run_command("make", "-sC", ENGINE, "BUILD=#{directory}", "CC=musl-gcc", "OPTIMIZE=-O0", "CFLAGS=",
                    "LINK=-static", "DEV=1", program)
        assert_match(/^cache: \d+ tests, 0 failed$/, run_command(program))
      end
    end

    test "the engine's other tests compile with musl" do
      sources = Dir["#{ENGINE}/test/*_test.c"].reject { |path| File.basename(path).start_with?("calls_") }
      assert_operator sources.size, :>, 30
      syntax("-std=c11", "-I#{ENGINE}/include", "-I#{ENGINE}/src", *sources)
    end

    test "the extension compiles with musl" do
      sources = Dir["#{ROOT}/ext/larder/**/*.c"]
      assert_operator sources.size, :>, 30
      ruby = RbConfig::CONFIG.values_at("rubyhdrdir", "rubyarchhdrdir").flat_map { |path| ["-isystem", path] }
      syntax("-std=gnu11", "-Wno-unused-parameter", "-I#{ROOT}/ext/larder", "-I#{ENGINE}/include", *ruby, *sources)
    end

    private

    def syntax(*arguments)
      assert_empty run_command("musl-gcc", *WARNINGS, "-fsyntax-only", *arguments)
    end

    def run_command(*command)
      output, status = Open3.capture2e({ "MAKEFLAGS" => nil }, *command)
      assert_predicate status, :success?, "#{command.first(6).join(" ")} …\n#{output}"
      output
    end
  end
end
