# frozen_string_literal: true

require "socket"
require "test_helper"
require "support/kubelet"
require "larder/bytes/obstacle"

module Larder
  # The message for each cause that keeps a cache from being opened. Its command is run where this machine allows that,
  # and then the cache opens.
  class ObstacleTest < ActiveSupport::TestCase
    include Processes
    include TemporaryDirectory

    NOBODY = 65_534
    # The start of a command that root has to run.
    ROOT = /(?:sudo|run as root:)/
    OPEN = <<~RUBY
      error = begin
        Larder::Cache.open(ARGV[0], size: 1 << 20) { |cache| cache.set("k", "v") }
        nil
      rescue Larder::OpenError => e
        e.message
      end
    RUBY

    test "the owner of a system's directory is not changed for a cache" do
      { "/data/larder/cache.larder" => "install -d -o nobody /data/larder",
        "/srv/shop/storage/cache.larder" => "install -d -o nobody /srv/shop/storage",
        "/usr/lib/cache.larder" => "install -d -o nobody /usr/lib/larder, and name a file in it, such as " \
                                   "/usr/lib/larder/cache.larder",
        "/var/lib/larder/c.larder" => "install -d -o nobody /var/lib/larder",
        "/etc/app/c.larder" => "install -d -o nobody /etc/app",
        "/c.larder" => "install -d -o nobody /larder, and name a file in it, such as /larder/c.larder" }
        .each do |path, command|
        assert_match(/, may not write to it: #{ROOT} #{Regexp.escape(command)}\z/, as_nobody(path), path)
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
      assert_match(/may not write to it: #{ROOT} chown nobody #{own}\z/, as_nobody(File.join(own, "larder/c.larder")))
    end

    test "where a directory cannot even be looked into, another path helps" do
      closed = File.join(directory, "closed")
      Dir.mkdir(closed, 0o700)
      File.chmod(0o755, directory)
      assert_match(/#{closed} belongs to root, and nobody, .*, may not look into it: name a file on a volume/,
                   as_nobody(File.join(closed, "storage/c.larder")))
    end

    test "a directory that root made for the cache is given to this user, with what is in it" do
      skip "needs root" unless Process.euid.zero?
      File.chmod(0o755, directory)
      %w[storage/larder/production/c.larder volume/larder/c.larder].map { |name| path_of(name) }.each do |path|
        assert_nil failure_at(path)
        sentence = as_nobody(path)
        assert_match(/, may not look into it: #{ROOT} chown -R nobody #{File.dirname(path)}\z/, sentence)
        run_command(sentence)
        assert_empty as_nobody(path)
        assert_equal [NOBODY], [path, "#{path}.lock"].map { |file| File.stat(file).uid }.uniq
      end
    end

    test "files that fsGroup of Kubernetes has opened to a group are closed by the command, until the next start" do
      path = path_of("volume/larder/c.larder")
      assert_nil failure_at(path)
      Kubelet.start_pod(path_of("volume"), Process.egid)
      sentence = failure_at(path)
      assert_includes sentence, "#{path_of("volume/larder")} passes on its group, as fsGroup of Kubernetes has it at " \
                                "each start of a pod: set fsGroupChangePolicy: OnRootMismatch, and once do: chmod 600"
      run_command(sentence)
      assert_nil failure_at(path)
      Kubelet.start_pod(path_of("volume"), Process.egid, on_root_mismatch: true)
      assert_nil failure_at(path)
    end

    test "root that may not give files away runs it as the owner, and leaves none that the owner cannot use" do
      own = path_of("own")
      ["c.larder", "storage/larder/c.larder"].each do |name|
        FileUtils.rm_rf(own)
        Dir.mkdir(own)
        File.chown(NOBODY, nil, own) if Process.euid.zero?
        line = as_root_without("chown", "#{OPEN}puts error", "#{own}/#{name}")
        assert_match(/\. #{own} belongs to nobody, and root here may not give files .*: run it as nobody \(/, line)
        assert_empty Dir.children(own)
      end
    end

    test "devices, and files of the system, are not moved away" do
      link = Dir.glob("/dev/std*").find { |file| File.symlink?(file) }
      [File::NULL, *link].each do |file|
        assert_match(/\A#{file} is a (?:device|symbolic link), where a file .*: name another path\z/, Obstacle.at(file))
      end
      assert_match(%r{\A/dev/null is a device, and no file can be in it: name a file on a volume},
                   Obstacle.at("/dev/null/c.larder"))
    end

    test "where root is refused although modes allow it, the file system is named" do
      skip "needs root" unless Process.euid.zero? && File.directory?("/sys/kernel")
      assert_match(%r{\. /sys takes no files, as it is on sysfs: name a file on}, failure_at("/sys/c.larder").to_s)
    end

    test "root is told to run as the owner, and not to take the file away" do
      skip "needs root" unless Process.euid.zero?
      path = File.join(directory, "c.larder")
      File.write(path, "")
      File.chown(12_345, nil, path)
      sentence = Obstacle.at(path)
      assert_equal "#{path} belongs to 12345, and this process runs as root: run it as 12345 " \
                   "(#{Remedy.as_user(12_345, "...")})", sentence
      File.chmod(0o755, directory)
      run = sentence[/\((.*)\)/, 1].sub("...", Shellwords.join([RbConfig.ruby, "-e", "print Process.uid"]))
      assert_equal "12345", `#{run}`
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

    test "attributes of the file, its lock file or its directory are named, and removed by the command" do
      path = path_of("d/c.larder")
      Cache.open(path, size: 1 << 20, &:size)
      [path, "#{path}.lock"].product(["+i", "+a"]).each do |file, attribute|
        with_attribute(attribute, file) do
          sentence = failure_at(path)
          assert_match(/#{file} has an attribute that forbids every change, .*: chattr -ia #{file}\z/, sentence)
          run_command(sentence)
          assert_nil failure_at(path)
        end
      end
      { path_of("d") => path_of("d/other.larder"), path_of("e") => path_of("e/deep/c.larder") }.each do |fixed, cache|
        FileUtils.mkdir_p(fixed)
        with_attribute("+i", fixed) do
          assert_nil failure_at(path) # which is there already
          run_command(failure_at(cache))
          assert_nil failure_at(cache)
        end
      end
    end

    test "attributes come before the owner, who cannot be changed with them" do
      path = path_of("c.larder")
      Cache.open(path, size: 1 << 20, &:size)
      with_attribute("+i", path) do
        assert_match(/\A#{path} has an attribute.*: #{ROOT} chattr -ia #{path}\z/, as_owner(path))
      end
    end

    test "a mount of a single file is named, and the command removes it" do
      in_mounts(<<~RUBY, path_of("c.larder"), path_of("empty"))
        [ARGV[0], ARGV[1]].each { |file| File.write(file, "") }
        system("mount", "--bind", ARGV[1], ARGV[0], exception: true)
        #{OPEN}
        abort "opened" unless error
        puts error
        system(error[/: (umount .*)/, 1], exception: true)
        #{OPEN}
        puts error || "works"
      RUBY
      assert_match(/#{path_of("c.larder")} is a mount of a single file, which cannot be replaced\. Mount its/,
                   @output.first)
      assert_equal "works", @output.last
    end

    test "a mounted file that is read-only is a read-only file system" do
      path = path_of("c.larder")
      Cache.open(path, size: 1 << 20, &:size)
      in_mounts(<<~RUBY, path)
        system("mount", "--bind", ARGV[0], ARGV[0], exception: true)
        system("mount", "-o", "remount,ro,bind", ARGV[0], exception: true)
        #{OPEN}
        puts error
      RUBY
      assert_match(/#{path} is on a read-only file system: name a file on a volume/, @output.last)
    end

    test "a full file system is named with the command that shows it" do
      Dir.mkdir(path_of("full"))
      { "size=500k" => "space", "size=8m,nr_inodes=1" => "inodes" }.each do |options, what|
        in_mounts(<<~RUBY, path_of("full/c.larder"), options)
          system("mount", "-t", "tmpfs", "-o", ARGV[1], "tmpfs", File.dirname(ARGV[0]), exception: true)
          #{OPEN}
          puts error
          [error[/\\((df -h [^;]*)/, 1], error[/of files: (df -i [^)]*)/, 1]].each { |df| system(df, exception: true) }
        RUBY
        assert_match(/\. The file system at #{path_of("full")} has too little room .*: free some, give a smaller size/,
                     @output.first, what)
        assert_equal 2, @output.grep(/Mounted on/).size
      end
    end

    test "a quota is named as one, and a limit of memory is not the file system's" do
      error = OpenError.new("allocate space for c: #{Errno::EDQUOT.new.message}: the disk has no room for the cache")
      assert_match(/\AThe quota of \S+ on \S+ has too little room/, Obstacle.at(path_of, error))
      error = OpenError.new("c: the control group allows 64 MiB: #{Errno::ENOSPC.new.message}")
      assert_nil Obstacle.at(path_of, error)
      assert_nil Obstacle.at(path_of, OpenError.new("something else"))
    end

    test "only files that are there are in the command that gives them to this user" do
      skip "needs root" unless Process.euid.zero?
      path = path_of("c.larder")
      [[path], ["#{path}.lock"], [path, "#{path}.lock"]].each do |files|
        FileUtils.rm_f([path, "#{path}.lock"])
        files.each { |file| File.write(file, "", perm: 0o600) && File.chown(12_345, nil, file) }
        File.chmod(0o777, directory)
        sentence = as_nobody(path)
        assert_match(/#{files.first} belongs to 12345, .*: #{ROOT} chown nobody #{files.join(" ")}\z/, sentence)
        run_command(sentence)
        assert_equal NOBODY, File.stat(files.last).uid
        assert_empty as_nobody(path)
      end
    end

    test "a file where a directory should be stays, and the path that is named works" do
      File.write(path_of("config.yml"), "settings")
      sentence = failure_at(path_of("config.yml/deep/c.larder"))
      assert_match(/#{path_of("config.yml")} is a file, and no file can be in it: name one in/, sentence)
      assert_nil failure_at(sentence[/such as (.*)/, 1])
      assert_equal "settings", File.read(path_of("config.yml"))
    end

    test "symbolic links that lead back to themselves are replaced by a directory" do
      File.symlink("b", path_of("a"))
      File.symlink("a", path_of("b"))
      sentence = failure_at(path_of("a/c.larder"))
      assert_match(/#{path_of("a")} is a symbolic link to b, which leads back to it: /, sentence)
      run_command(sentence)
      assert_nil failure_at(path_of("a/c.larder"))
      run_command(failure_at(path_of("b")).sub(/, or name another path\z/, ""))
      assert_nil failure_at(path_of("b"))
    end

    test "a FIFO and a socket are moved away by the command" do
      File.mkfifo(path_of("fifo"))
      UNIXServer.new(path_of("socket")).close
      %w[fifo socket].each do |name|
        sentence = failure_at(path_of(name))
        assert_match(/#{path_of(name)} is a #{name}, where a file/, sentence)
        run_command(sentence.sub(/, or name another path\z/, ""))
        assert_nil failure_at(path_of(name))
      end
    end

    test "a directory that its owner may not write to or search is opened by chmod" do
      skip "needs root" unless Process.euid.zero?
      [0o500, 0o600, 0].each do |mode|
        own = path_of(format("own%o", mode))
        Dir.mkdir(own)
        File.chown(NOBODY, nil, own)
        File.chmod(mode, own)
        File.chmod(0o755, directory)
        sentence = as_nobody("#{own}/c.larder")
        assert_match(/\A#{own} has mode #{format("%o", mode)}, .* write to it: chmod u\+wx #{own}\z/, sentence)
        run_command(sentence)
        assert_empty as_nobody("#{own}/c.larder")
      end
    end

    test "root without capabilities runs it as the owner" do
      own = path_of("own")
      Dir.mkdir(own, 0o700)
      File.chown(NOBODY, nil, own) if Process.euid.zero?
      File.chmod(0o755, directory)
      line = as_root_without("all", "puts Larder::Obstacle.at(ARGV[0])", "#{own}/c.larder")
      assert_match(/#{own} belongs to nobody and has mode 700, and root here may not pass over that/, line)
      program = Shellwords.join([RbConfig.ruby, "-e", "print Process.uid"])
      run = line[/run it as nobody \((.*)\)$/, 1].sub("...", program)
      assert_equal NOBODY.to_s, `#{run}`
    end

    test "a path that is empty, of spaces or with a NUL byte names no file" do
      { "" => "is empty; name a file", " \t" => "is empty; name a file",
        "a\0" => "contains a NUL byte" }.each do |path, reason|
        message = "the path #{path.inspect} #{reason}"
        Dir.chdir(directory) do
          assert_equal message, assert_raises(InvalidArgument) { Cache.open(path) }.message
          assert_equal message, assert_raises(ArgumentError) { Application.absolute(path) }.message
          assert_empty Dir.children(".")
        end
      end
    end

    test "a path that ends in a slash names no file" do
      message = "the path #{directory}/new/ ends in a slash and names a directory; name a file in it, such as " \
                "#{directory}/new/cache.larder"
      assert_equal message, assert_raises(InvalidArgument) { Cache.open("#{directory}/new/") }.message
      assert_equal message, assert_raises(ArgumentError) { Application.absolute("#{directory}/new/") }.message
      assert_match(/#{directory} is a directory: name a file in it, such as/, failure_at("#{directory}/"))
      assert_empty Dir.children(directory)
    end

    private

    LIB = File.expand_path("../../../lib", __dir__)
    private_constant :LIB

    # @return [String, nil] the message of the failure; nil: the cache opens
    def failure_at(path)
      Cache.open(path, size: 1 << 20) { |cache| cache.set("k", "v") }
      nil
    rescue OpenError => e
      e.message
    end

    # Runs the command behind the last colon, as root where it says so.
    def run_command(sentence)
      command = sentence[/: (?:run as root: |sudo )?((?:chattr|chown|chmod|mv|rm|mkdir) .*)\z/, 1]
      assert command, sentence
      output, status = Open3.capture2e("sh", "-c", command)
      assert_predicate status, :success?, "#{command}: #{output}"
    end

    def with_attribute(attribute, file)
      skip "no attributes here" unless system("chattr", attribute, file, err: File::NULL)
      yield
    ensure
      system("chattr", "-ia", file, err: File::NULL)
    end

    # Runs a script in mounts of its own, and keeps its lines in @output.
    def in_mounts(script, *arguments)
      output, status = Open3.capture2e("unshare", "--mount", RbConfig.ruby, "-I#{LIB}", "-rlarder", "-e", script,
                                       *arguments)
      skip "no mounts of its own: #{output}" if output.start_with?("unshare:")
      assert_predicate status, :success?, output
      @output = output.lines(chomp: true)
    end

    def as_root_without(capability, script, *arguments)
      skip "needs root and setpriv" unless Process.euid.zero? && system("which setpriv", out: File::NULL)
      Open3.capture2e("setpriv", "--bounding-set", "-#{capability}", "--inh-caps", "-#{capability}", RbConfig.ruby,
                      "-I#{LIB}", "-rlarder", "-e", script, *arguments).first
    end

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
