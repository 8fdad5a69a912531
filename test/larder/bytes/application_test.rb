# frozen_string_literal: true

require "test_helper"
require "larder/bytes/application"
require "support/environment"

module Larder
  # What is known of an application without Rails; of one with Rails see test/rails.
  class ApplicationTest < ActiveSupport::TestCase
    include TemporaryDirectory
    include Environment

    test "the environment is Rails' variable, then Rack's, then development; a variable that is empty is none" do
      {
        { "RAILS_ENV" => "test", "RACK_ENV" => "production" } => "test",
        { "RAILS_ENV" => "", "RACK_ENV" => "production" }     => "production",
        { "RAILS_ENV" => nil, "RACK_ENV" => "" }              => "development",
        { "RAILS_ENV" => nil, "RACK_ENV" => nil }             => "development"
      }.each do |variables, expected|
        assert_equal expected, with_environment(variables) { Application.environment }, variables.inspect
      end
    end

    test "a variable that is blank is none" do
      ["", " ", "\t\n"].each do |blank|
        assert_nil with_environment("LARDER_PATH" => blank) { Application.variable("LARDER_PATH") }
      end
      assert_equal " a b ", with_environment("LARDER_PATH" => " a b ") { Application.variable("LARDER_PATH") }
      assert_equal "\xFF ", with_environment("LARDER_PATH" => "\xFF ") { Application.variable("LARDER_PATH") }
    end

    test "a path with a home directory that is not known is named with what to do" do
      ["~/c.larder", "~no-such-user/c.larder"].each do |path|
        error = assert_raises(::ArgumentError) do
          with_environment("HOME" => "relative") { Application.absolute(path) }
        end
        assert_match(/\Athe path #{Regexp.escape(path.inspect)} has no meaning here \(.*\); name an absolute path\z/,
                     error.message)
      end
    end

    test "a directory that a link leads out of the root is named by what the link leads to" do
      release, shared = releases
      in_root(release) do
        assert_equal "#{shared}/larder/production/cache.larder",
                     Application.absolute("storage/larder/production/cache.larder")
        assert_equal "#{shared}/c.larder", Application.absolute("#{release}/storage/c.larder")
      end
    end

    test "other paths are not changed: links within the root and outside of it, a link to nothing, in a circle" do
      release, shared = releases
      Dir.mkdir("#{release}/tmp")
      { "tmp" => "within", "#{shared}/none" => "dangling", "circle" => "circle" }.each do |target, link|
        File.symlink(target, "#{release}/#{link}")
      end
      in_root(release) do
        %w[tmp within dangling circle none].each do |name|
          assert_equal "#{release}/#{name}/c.larder", Application.absolute("#{name}/c.larder")
        end
        assert_equal "#{directory}/current/storage/c.larder",
                     Application.absolute("#{directory}/current/storage/c.larder")
      end
    end

    test "all releases of an application have one file in memory" do
      skip "the system has no /dev/shm" unless File.directory?("/dev/shm")
      release, = releases
      other = "#{directory}/releases/2".tap { |path| Dir.mkdir(path) }
      paths = [release, other].map { |root| in_root(root) { Application.file_in_memory("cache.larder") } }
      assert_equal 1, paths.uniq.size
      File.unlink("#{directory}/current")
      assert_not_equal(*[release, other].map { |root| in_root(root) { Application.file_in_memory("cache.larder") } })
    end

    test "root puts no file in memory into a directory that another user has made before" do
      skip "needs root" unless Process.euid.zero?
      own = path_of("larder-0")
      assert_equal own, Application.file_in_memory("c.larder", memory: directory)[0, own.size]
      assert_equal [0, 0o700], [File.stat(own).uid, File.stat(own).mode & 0o777]
      assert_nothing_raised { Application.file_in_memory("c.larder", memory: directory) }
      File.chown(65_534, nil, own)
      error = assert_raises(::ArgumentError) { Application.file_in_memory("c.larder", memory: directory) }
      assert_match(/larder-0, which belongs to the user 65534, not to root: rm -r #{own},/, error.message)
    end

    test "an environment is the name of one directory" do
      ["../../etc", "a/b", "/etc", "..", "."].each do |name|
        error = assert_raises(::ArgumentError, name) do
          with_environment("RAILS_ENV" => name) { Application.file("cache.larder") }
        end
        assert_match(/\Athe environment "#{name}" \(RAILS_ENV, RACK_ENV\) is no name of a directory/, error.message)
      end
      assert_equal "storage/larder/my shop/cache.larder",
                   with_environment("RAILS_ENV" => "my shop") { Application.file("cache.larder") }
    end

    test "a file that nobody has named is in the environment's directory" do
      assert_silent { assert_equal "storage/larder/test/cache.larder", file }
    end

    test "another base than the root has its files" do
      Dir.mkdir(path_of("shop"))
      expected = path_of("shop/storage/larder/test/cache.larder")
      assert_equal(expected, with_environment("RAILS_ENV" => "test") do
        Application.file("cache.larder", base: path_of("shop"))
      end)
    end

    test "the calling line is the application's, whatever gem and library is in between" do
      line = [1].each { break ["y"].to_h { |name| [name, Application.calling_line] } }.fetch("y")
      assert_equal "#{__FILE__}:#{__LINE__ - 1}", line
    end

    private

    def file
      Dir.chdir(directory) { with_environment("RAILS_ENV" => "test") { Application.file("cache.larder") } }
    end

    # As Capistrano makes them, with `append :linked_dirs, "storage"`.
    #
    # @return [Array(String, String)] a release, and the directory that its link leads to
    def releases
      release = path_of("releases/1")
      shared = path_of("shared/storage")
      [release, shared].each { |path| FileUtils.mkdir_p(path) }
      File.symlink(shared, "#{release}/storage")
      File.symlink(release, path_of("current"))
      [release, shared]
    end

    def in_root(path, &block)
      Dir.chdir(path, &block)
    end
  end
end
