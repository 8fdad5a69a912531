# frozen_string_literal: true

require "test_helper"
require "larder/obstacle"

module Larder
  # What a message proposes where a cache cannot be opened: seen by a user who owns nothing there.
  class ObstacleTest < ActiveSupport::TestCase
    include Processes
    include TemporaryDirectory

    NOBODY = 65_534

    test "the owner of a system's directory is not changed for a cache" do
      { "/data/larder/cache.larder" => "sudo install -d -o nobody /data/larder",
        "/srv/shop/storage/cache.larder" => "sudo install -d -o nobody /srv/shop/storage",
        "/usr/lib/cache.larder" => "sudo install -d -o nobody /usr/lib/larder, and name a file in it, such as " \
                                   "/usr/lib/larder/cache.larder",
        "/var/lib/larder/c.larder" => "sudo install -d -o nobody /var/lib/larder",
        "/etc/app/c.larder" => "sudo install -d -o nobody /etc/app",
        "/c.larder" => "sudo install -d -o nobody /larder, and name a file in it, such as /larder/c.larder" }
        .each do |path, command|
        assert_match(/, may not write to it: #{Regexp.escape(command)}\z/, as_nobody(path), path)
      end
    end

    test "what another process removes while it is looked at is no obstacle" do
      path = File.join(directory, "c.larder")
      File.write(path, "")
      told = in_child do
        File.singleton_class.prepend(Module.new { def exist?(file) = super.tap { FileUtils.rm_f(file) } })
        [Obstacle.at(path), File.file?(path)]
      end
      assert_equal [nil, false], told
    end

    test "that of an application's own directory is" do
      own = File.join(directory, "storage")
      Dir.mkdir(own)
      [directory, File.dirname(directory)].each { |each| File.chmod(0o755, each) unless File.world_readable?(each) }
      command = "sudo chown nobody #{own}"
      assert_match(/may not write to it: #{Regexp.escape(command)}\z/, as_nobody(File.join(own, "larder/c.larder")))
    end

    test "where a directory cannot even be looked into, another path helps" do
      closed = File.join(directory, "closed")
      Dir.mkdir(closed, 0o700)
      File.chmod(0o755, directory)
      assert_match(/#{closed} belongs to root, and nobody, .*, may not look into it: name a file on a volume/,
                   as_nobody(File.join(closed, "storage/c.larder")))
    end

    test "root is told to run as the owner, and not to take the file away" do
      skip "needs root" unless Process.euid.zero?
      path = File.join(directory, "c.larder")
      File.write(path, "")
      File.chown(12_345, nil, path)
      assert_equal "#{path} belongs to 12345, and this process runs as root: run it as 12345 (sudo -u '#12345' ...)",
                   Obstacle.at(path)
    end

    test "a symbolic link that leads nowhere is named with what it leads to" do
      File.symlink("data/larder", File.join(directory, "storage"))
      assert_equal "#{directory}/storage is a symbolic link to data/larder, which is not there: " \
                   "mkdir -p #{directory}/data/larder", Obstacle.at(File.join(directory, "storage/c.larder"))
    end

    test "what is no file is moved away, and nobody is told to change the owner of what a link leads to" do
      path = File.join(directory, "c.larder")
      Dir.mkdir("#{path}.lock")
      assert_equal "#{path}.lock is a directory, where a file of Larder's is to be: " \
                   "mv #{path}.lock #{path}.lock.other, or name another path", Obstacle.at(path)
      File.symlink("/etc/passwd", path)
      assert_match(/\A#{path} is a symbolic link, where a file of Larder's is to be: mv #{path} /, Obstacle.at(path))
      assert_equal Obstacle.at(path), (Process.euid.zero? ? as_owner(path) : Obstacle.at(path))
    end

    test "an own file that its mode closes is opened by chmod" do
      path = File.join(directory, "c.larder")
      ["", ".lock"].each { |ending| File.write("#{path}#{ending}", "") }
      { path => 0o400, "#{path}.lock" => 0 }.each do |file, mode|
        File.chmod(mode, file)
        owner = Process.euid.zero? ? NOBODY : Process.euid
        File.chown(owner, nil, path, "#{path}.lock")
        assert_equal "#{file} has mode #{format("%o", mode)}, by which its owner may not read and write it: " \
                     "chmod 600 #{file}", as_owner(path)
        File.chmod(0o600, file)
      end
    end

    private

    def as_owner(path)
      return Obstacle.at(path) unless Process.euid.zero?

      [directory, File.dirname(directory)].each { |each| File.chmod(0o755, each) unless File.world_readable?(each) }
      as_nobody(path)
    end

    def as_nobody(path)
      skip "needs root" unless Process.euid.zero?
      skip "#{path} can be there" if File.exist?(File.dirname(path)) && path.start_with?("/data", "/srv/shop")
      reader, writer = IO.pipe
      pid = fork do
        Process::UID.change_privilege(NOBODY)
        writer.write(Obstacle.at(path).to_s)
        writer.close
        exit!(0)
      end
      writer.close
      Process.wait(pid)
      reader.read
    end
  end
end
