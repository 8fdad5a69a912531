# frozen_string_literal: true

require "test_helper"
require "fileutils"
require "open3"
require "tmpdir"

module House
  # The engine without Ruby: it builds, installs, and a C program finds it through pkg-config.
  class EngineAloneTest < ActiveSupport::TestCase
    ROOT = File.expand_path("../..", __dir__)
    ENGINE = File.join(ROOT, "engine")

    # Compiled once for all tests.
    BUILD = Dir.mktmpdir("larder-engine-build")
    Minitest.after_run { FileUtils.rm_rf(BUILD) }

    setup { @directory = Dir.mktmpdir("larder-engine") }
    teardown { FileUtils.rm_rf(@directory) }

    test "it installs its header, its libraries and its pkg-config file" do
      install
      usr = File.join(@directory, "usr")
      installed = Dir.glob("**/*", base: usr).select { |file| File.file?(File.join(usr, file)) }
      assert_equal ["include/larder.h", "lib/liblarder.a", *libraries, "lib/pkgconfig/larder.pc"].sort, installed.sort
    end

    test "programs are bound to the library's binary interface, not to its version" do
      skip "readelf is not installed" unless system("readelf --version", out: File::NULL, err: File::NULL)

      install
      name = File.basename(libraries[1])
      assert_match(/\(SONAME\).*\[#{Regexp.escape(name)}\]/, run_command("readelf", "-d", "usr/#{libraries[2]}"))
      run_command("cc", "-Iusr/include", "#{ENGINE}/examples/hello.c", "-o", "hello", "-Lusr/lib", "-llarder")
      assert_match(/\(NEEDED\).*\[#{Regexp.escape(name)}\]/, run_command("readelf", "-d", "hello"))
      FileUtils.rm(File.join(@directory, "usr", libraries[0])) # of those who compile
      assert_match(/\S/, run_command("./hello"))
    end

    test "a C program builds against what was installed, and runs" do
      skip "pkg-config is not installed" unless system("pkg-config --version", out: File::NULL, err: File::NULL)

      install
      run_command("sh", "-c", "cc -std=c11 -Wall -Wextra -Werror #{ENGINE}/examples/hello.c -o hello " \
                              "$(pkg-config --cflags --libs larder)")
      assert_match(/\S/, run_command("./hello"))
    end

    test "no symbol but those of larder.h is exported" do
      skip "nm is not installed" unless system("nm --version", out: File::NULL, err: File::NULL)

      install
      symbols = run_command("nm", "-D", "--defined-only", "usr/#{libraries[0]}").scan(/ [A-Z] (\S+)$/).flatten
      assert_includes symbols, "larder_get"
      assert_empty symbols.grep_v(/\Alarder_[a-z_]+\z/)
    end

    private

    # For those who compile, of the binary interface, and the file itself.
    def libraries
      darwin = RbConfig::CONFIG["host_os"].include?("darwin")
      ["", "0", Larder::VERSION].map do |version|
        "lib/liblarder#{darwin ? "#{".#{version}" unless version.empty?}.dylib" : ".so.#{version}".delete_suffix(".")}"
      end
    end

    def install
      run_command("make", "-C", ENGINE, "install", "BUILD=#{BUILD}", "PREFIX=/usr", "DESTDIR=#{@directory}")
    end

    def run_command(*command)
      environment = {
        "PKG_CONFIG_PATH" => "#{@directory}/usr/lib/pkgconfig", "PKG_CONFIG_SYSROOT_DIR" => @directory,
        "LD_LIBRARY_PATH" => "#{@directory}/usr/lib", "MAKEFLAGS" => nil
      }
      output, status = Open3.capture2e(environment, *command, chdir: @directory)
      assert_predicate status, :success?, "#{command.join(" ")}\n#{output}"
      output
    end
  end
end
