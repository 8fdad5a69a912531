# frozen_string_literal: true

# `rake compile` builds the extension for the Ruby that runs it, under tmp/, and puts it where `require "larder"` finds
# it. Only what changed is compiled; LARDER_DEV=1 makes warnings errors. Plain rake: extconf.rb and make do the work.

require "fileutils"
require "rbconfig"

# @api private
module CompileTask
  ROOT = File.expand_path("..", __dir__)
  EXTENSION = File.join(ROOT, "ext/larder/extconf.rb")
  BINARY = "larder.#{RbConfig::CONFIG["DLEXT"]}".freeze
  PRODUCT = File.join(ROOT, "lib/larder", BINARY)
  DIRECTORY = File.join(ROOT, "tmp", "#{RbConfig::CONFIG["arch"]}-#{RUBY_VERSION}", "larder")

  module_function

  # Two builds at a time in one directory would spoil each other.
  def run
    FileUtils.mkdir_p(DIRECTORY)
    File.open(File.join(DIRECTORY, ".lock"), File::CREAT | File::RDWR) do |lock|
      lock.flock(File::LOCK_EX)
      Dir.chdir(DIRECTORY) do
        configure unless configured?
        system("make", "--silent", "-j2", exception: true)
      end
      install
    end
  end

  # The Makefile lists the sources, so it is made anew when there are others.
  def configuration(dev = ENV.fetch("LARDER_DEV", ""))
    settings = "LARDER_DEV=#{dev} LARDER_SANITIZE=#{ENV.fetch("LARDER_SANITIZE", "")}"
    [File.read(EXTENSION), settings, *Dir[File.join(ROOT, "{ext/larder,engine/src}/**/*.c")]].join("\n")
  end

  # What was compiled with warnings as errors does for those who did not ask for it.
  def configured?
    return false unless File.exist?("Makefile") && File.exist?(".configuration")

    [configuration, configuration("1")].include?(File.read(".configuration"))
  end

  def configure
    FileUtils.rm_f(Dir["*.o"])
    system(RbConfig.ruby, EXTENSION, exception: true)
    File.write(".configuration", configuration)
  end

  # By rename: running processes keep the file they have mapped.
  def install
    built = File.join(DIRECTORY, BINARY)
    return if File.exist?(PRODUCT) && FileUtils.identical?(built, PRODUCT)

    FileUtils.cp(built, "#{PRODUCT}.#{Process.pid}")
    File.rename("#{PRODUCT}.#{Process.pid}", PRODUCT)
  end
end

desc "Compile the extension into lib/larder for this Ruby (LARDER_DEV=1: warnings are errors)"
task :compile do
  CompileTask.run
end
