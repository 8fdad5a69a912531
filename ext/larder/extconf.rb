# frozen_string_literal: true

# Builds larder/larder from the glue in this directory and from the engine's sources in ../../engine, which is where
# they are both in the repository and in the packaged gem. Nothing is downloaded and no library is linked but libc.
#
# In the repository, objects and debug symbols stay. The gem is installed without: they would take ten times the room.
#
# LARDER_DEV=1 makes every warning an error. LARDER_SANITIZE=address,undefined builds for those sanitizers of GCC;
# Ruby must then be run with their library preloaded (rakelib/house/sanitized_ruby.rb).

require "mkmf"

ENGINE = File.expand_path("../../engine", __dir__)
SANITIZERS = ENV.fetch("LARDER_SANITIZE", "")
DEVELOPER = ENV.fetch("LARDER_DEV", "") == "1"
REPOSITORY = File.file?(File.expand_path("../../Rakefile", __dir__))

unless RUBY_ENGINE == "ruby"
  abort "larder: #{RUBY_ENGINE} is not supported; Larder's extension needs CRuby 3.1 or newer"
end
unless RbConfig::CONFIG["host_os"].match?(/linux|darwin/)
  abort "larder: #{RbConfig::CONFIG["host_os"]} is not supported; Larder runs on Linux and macOS"
end
unless try_static_assert("sizeof(void *) == 8")
  abort "larder: a 64-bit Ruby is needed, and a working C compiler (see mkmf.log in #{Dir.pwd})"
end
abort "larder: the C compiler has no <stdatomic.h>; use GCC 9, clang 9 or newer" unless have_header("stdatomic.h")
have_func("rb_hash_new_capa") # since Ruby 3.2

# name of the object file => source. Objects have a prefix, as both directories may have a file of the same name.
def objects(directory, prefix)
  sources = Dir[File.join(directory, "**/*.c")].sort
  abort "larder: no sources in #{directory}; the gem or checkout is incomplete" if sources.empty?

  sources.to_h { |source| ["#{prefix}-#{File.basename(source, ".c")}.#{$OBJEXT}", source] }
end

engine_objects = objects(File.join(ENGINE, "src"), "engine")
glue_objects = objects(__dir__, "glue")
headers = Dir[File.join(ENGINE, "{src,include}/**/*.h"), File.join(__dir__, "**/*.h")].sort

# Declarations stand where they are used, as C11 has it.
$warnflags = $warnflags.to_s.gsub("-Wdeclaration-after-statement", "")
$warnflags << " -Wall -Wextra -Werror -Wno-unused-parameter" if DEVELOPER
$CFLAGS << " -std=gnu11 -O3 -fvisibility=hidden"
# Frames of more than a page touch each page of it, so that an endless recursion meets the guard page of the stack, as
# Ruby expects: some Rubies are compiled without.
$CFLAGS << " -fstack-clash-protection" if try_cflags("-fstack-clash-protection")
# Ruby's longjmp is not the one that AddressSanitizer knows, and would leave the marks of frames it jumps over on the
# stack: so memory of the stack is not watched.
unless SANITIZERS.empty?
  $CFLAGS << " -O1 -U_FORTIFY_SOURCE -fsanitize=#{SANITIZERS} -fno-sanitize-recover=all --param asan-stack=0"
  $DLDFLAGS << " -fsanitize=#{SANITIZERS}"
end
unless REPOSITORY || DEVELOPER
  $CFLAGS << " -g0"
  $DLDFLAGS << (RbConfig::CONFIG["host_os"].include?("darwin") ? " -Wl,-x" : " -s")
end
$INCFLAGS << " -I#{File.join(ENGINE, "include").inspect}"

$srcs = []
$objs = glue_objects.keys + engine_objects.keys

create_makefile("larder/larder")

File.open("Makefile", "a") do |makefile|
  makefile.puts "", "$(OBJS): #{headers.join(" ")} $(ruby_headers)"
  { __dir__ => glue_objects, File.join(ENGINE, "src") => engine_objects }.each do |directory, objects|
    objects.each do |object, source|
      makefile.puts "#{object}: #{source}",
                    "\t$(ECHO) compiling #{source.delete_prefix("#{directory}/")}",
                    "\t$(Q) $(CC) -I#{directory.inspect} $(INCFLAGS) $(CPPFLAGS) $(CFLAGS) $(COUTFLAG)$@ " \
                    "-c $(CSRCFLAG)#{source}"
    end
  end

  # RubyGems before 3.5 leaves behind whatever the build has made.
  unless REPOSITORY
    makefile.puts "", ".PHONY: tidy", "install: tidy", "tidy: install-so install-rb",
                  "\t-$(Q) $(RM) $(OBJS) $(DLLIB) $(TIMESTAMP_DIR)/.*.time"
  end
end
