# frozen_string_literal: true

# The Ruby tests with an extension that was built for AddressSanitizer and UndefinedBehaviorSanitizer, in a copy of the
# checkout. Ruby itself is not built for them, so their library is preloaded, and Ruby's own leaks are not looked for.
# A finding ends the process that it is in, and so fails its test.
#
# Run as a program: ruby rakelib/house/sanitized_ruby.rb [FILE...]

require "fileutils"
require "open3"
require_relative "checkout"

module House
  # One run under the sanitizers.
  class SanitizedRuby
    SANITIZERS = "address,undefined"

    # The store and the cache. What runs Bundler, git or make has nothing of the extension in it.
    FILES = ["test/larder/**/*_test.rb", "test/active_support/**/*_test.rb"].freeze

    # Under a sanitizer each takes minutes, or is about what a sanitizer changes.
    WITHOUT = {
      "test/active_support/cache/larder_store/fast_path_hazards_test.rb" =>
        "recurses until the stack ends, which the sanitizer takes for a crash",
      "test/larder/bytes/cache/fork_test.rb" =>
        "forks beside threads: GCC 12's AddressSanitizer leaves its allocator locked in such a child, which then waits"
    }.freeze

    # Ruby frees nothing at its end, and gives each thread a stack for signals, which the sanitizer takes for its own.
    OPTIONS = "detect_leaks=0:use_sigaltstack=0:abort_on_error=1:allocator_may_return_null=1"
    # Minitest starts no threads then. One that starts while a test forks has the sanitizer's allocator locked, and the
    # child waits for it forever (GCC 12).
    ALONE = "1"
    private_constant :SANITIZERS, :OPTIONS, :ALONE

    def initialize
      @checkout = File.join(ROOT, "tmp/matrix/sanitized")
    end

    # @param files [Array<String>] none: all
    # @return [Boolean] whether all passed
    def test(files)
      Checkout.copy(@checkout)
      compile || abort("sanitized_ruby: the extension does not compile")
      files = Dir.glob(FILES, base: @checkout).sort - WITHOUT.keys if files.empty?
      WITHOUT.each { |file, reason| puts "without #{file}: #{reason}" }
      files.map { |file| run(file) }.all?
    end

    private

    def compile
      system(variables.merge("LARDER_SANITIZE" => SANITIZERS), "bundle", "exec", "rake", "compile", chdir: @checkout)
    end

    def run(file)
      includes = ["lib", "test"].map { |name| "-I#{File.join(@checkout, name)}" }
      puts file
      $stdout.flush
      environment = variables.merge("LD_PRELOAD" => libraries, "ASAN_OPTIONS" => OPTIONS,
                                    "UBSAN_OPTIONS" => "print_stacktrace=1", "MT_CPU" => ALONE)
      system(environment, "ruby", "-rbundler/setup", *includes, file, "--show-skips", chdir: @checkout, in: File::NULL)
    end

    def variables
      gemfile = Environment.gemfile.sub(ROOT, @checkout)
      Environment.variables(gemfile).merge("BUNDLE_PATH" => Environment.gem_path)
    end

    # Both, and the C++ library that they call: it must be there before them.
    def libraries
      ["libasan.so", "libubsan.so", "libstdc++.so.6"].map do |name|
        Open3.capture2("gcc", "-print-file-name=#{name}").first.strip
      end.join(" ")
    end
  end
end

exit House::SanitizedRuby.new.test(ARGV) if $PROGRAM_NAME == __FILE__
