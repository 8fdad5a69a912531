# frozen_string_literal: true

# Larder::Cache.open: paths, sizes, and files that are not ours to open.

require "test_helper"
require "pathname"
require "support/frozen_disk"

class LarderCacheOpenTest < ActiveSupport::TestCase
  include TemporaryCaches
  include Processes
  include FrozenDisk

  NOBODY = 65_534

  def open_error(path, **options)
    assert_raises(Larder::OpenError) { Larder::Cache.open(path, **options) }
  end

  test "open makes the file and its directory for their owner alone" do
    made = open_cache("deep/new.larder")
    assert_equal 0o700, File.stat(path_of("deep")).mode & 0o777
    assert_equal 0o600, File.stat(made.path).mode & 0o777
    assert_equal made.size, File.size(made.path)
  end

  test "the block form closes the cache and returns the block's value" do
    inside = nil
    answer = Larder::Cache.open(path_of, size: SIZE) do |opened|
      inside = opened
      assert_not_predicate opened, :closed?
      :answer
    end
    assert_equal :answer, answer
    assert_predicate inside, :closed?
  end

  test "the block form closes the cache when the block raises or throws" do
    inside = nil
    assert_raises(IndexError) { Larder::Cache.open(path_of, size: SIZE) { |c| (inside = c) && raise(IndexError) } }
    assert_predicate inside, :closed?
    catch(:out) { Larder::Cache.open(path_of, size: SIZE) { |c| (inside = c) && throw(:out) } }
    assert_predicate inside, :closed?
  end

  test "a Pathname and whatever has to_path is a path" do
    assert_equal path_of, open_cache.path
    [Pathname.new(path_of), Struct.new(:to_path).new(path_of)].each do |path|
      Larder::Cache.open(path, size: SIZE) { |opened| assert_equal path_of, opened.path }
    end
  end

  test "a relative path is meant from where it was opened" do
    Dir.chdir(directory) { @relative = Larder::Cache.open("relative.larder", size: SIZE) }
    assert_equal path_of("relative.larder"), @relative.path
    @relative.set("k", "v")
    assert_equal "v", open_cache("relative.larder").get("k")
  ensure
    @relative&.close
  end

  test "a path may have bytes of any kind" do
    ["schön dir/kaffee ☕.larder", "\xFF\xFE.larder"].each do |name|
      opened = open_cache(name)
      opened.set("k", "v")
      assert_equal "v", opened.get("k")
      assert_path_exists opened.path
    end
  end

  test "a path that is none is refused, naming it" do
    assert_equal "path must be a String or Pathname, got Integer",
                 assert_raises(TypeError) { Larder::Cache.open(1) }.message
    assert_equal "path must be a String or Pathname, got NilClass",
                 assert_raises(TypeError) { Larder::Cache.open(nil) }.message
    assert_raises(Larder::InvalidArgument) { Larder::Cache.open("") }
    assert_match(/contains a NUL byte/, assert_raises(Larder::InvalidArgument) { Larder::Cache.open("a\0b") }.message)
  end

  test "a size out of range is refused, naming it and the range" do
    [0, -1, Larder::Cache::MIN_SIZE - 1, Larder::Cache::MAX_SIZE + 1, 2**70].each do |size|
      assert_match(/\Asize #{size} is not between 1048576 and 1099511627776 bytes/,
                   open_error(path_of, size: size).message)
    end
    assert_equal "size must be an Integer of bytes, got Float",
                 assert_raises(TypeError) { Larder::Cache.open(path_of, size: 1e7) }.message
    assert_not File.exist?(path_of)
  end

  test "the smallest size is a cache that works" do
    small = open_cache("small.larder", size: Larder::Cache::MIN_SIZE)
    assert_operator small.max_value, :>, 0
    2000.times { |i| assert_includes [true, false], small.set("k#{i}", "v" * 1000) }
    assert small.set("last", "v")
    assert_equal "v", small.get("last")
    assert_equal 0, small.verify[:problems]
  end

  test "a lock timeout out of range is refused, naming it" do
    assert_match(/lock_timeout -1 is not between 0 and 3600 seconds/,
                 assert_raises(Larder::InvalidArgument) { Larder::Cache.open(path_of, lock_timeout: -1) }.message)
    assert_raises(Larder::InvalidArgument) { Larder::Cache.open(path_of, lock_timeout: Float::NAN) }
    assert_raises(TypeError) { Larder::Cache.open(path_of, lock_timeout: "1") }
    assert open_cache(lock_timeout: 0).set("k", "v")
  end

  test "opened twice in a process, caches share the file and close each for itself" do
    first = open_cache
    second = open_cache
    first.set("k", "v")
    assert_equal "v", second.get("k")
    first.close
    assert_equal "v", second.get("k")
    assert_equal 1, second.stats[:processes]
  end

  test "what was stored is there when the file is opened again" do
    open_cache("kept.larder").set("k", "v")
    @caches.each(&:close)
    assert_equal "v", open_cache("kept.larder").get("k")
    assert_equal "v", in_child { open_cache("kept.larder").get("k") }
    assert_equal "v", run_ruby("print Larder::Cache.open(ARGV[0]).get('k')", path_of("kept.larder"))
  end

  test "another size than the file's is warned of once, and the file's is used" do
    first = open_cache("sized.larder", size: SIZE)
    _, warning = capture_io { 2.times { open_cache("sized.larder", size: 2 * SIZE) } }
    assert_equal 1, warning.lines.size, warning
    assert_match(%r{\A/.*/test/test_helper\.rb:\d+: warning: larder: }, warning)
    assert_includes warning, "#{first.path} has #{first.size} bytes, not the configured #{2 * SIZE}"
    assert_includes warning, "To change it: larder resize #{first.path} #{2 * SIZE}"
    assert_equal first.size, @caches.last.size
  end

  test "the size of the file and none are not warned of" do
    open_cache("sized.larder", size: SIZE)
    _, warning = capture_io do
      open_cache("sized.larder", size: SIZE)
      open_cache("sized.larder", size: nil)
    end
    assert_empty warning
  end

  test "a size that is no multiple of anything is not warned of when it made the file" do
    _, warning = capture_io { 2.times { open_cache("odd.larder", size: 5_000_001) } }
    assert_empty warning
  end

  test "a directory is refused" do
    Dir.mkdir(path_of("inner")) # for the lock file is made beside it
    assert_match(/#{path_of("inner")}.*directory/, open_error(path_of("inner")).message)
  end

  test "a linked directory that its release takes along is still that of a forked child" do
    FileUtils.mkdir_p([path_of("release"), path_of("shared")])
    File.symlink(path_of("shared"), path_of("release/storage"))
    cache = Dir.chdir(path_of("release")) { Larder::Cache.open("storage/c.larder", size: SIZE) }
    cache.set("k", "v")
    FileUtils.rm_rf(path_of("release"))
    assert_equal ["v", true], in_child { [cache.get("k"), cache.delete("k")] }
    assert_equal [nil, path_of("shared/c.larder")], [cache.get("k"), cache.path]
    refute_path_exists path_of("release")
  ensure
    cache&.close
  end

  test "a symbolic link is refused, and what it points to stays" do
    File.write(path_of("target"), "precious")
    File.symlink(path_of("target"), path_of("link"))
    assert_match(/#{path_of("link")}.*symbolic link/, open_error(path_of("link")).message)
    assert_equal "precious", File.read(path_of("target"))
  end

  test "a FIFO is refused and not waited for" do
    File.mkfifo(path_of("fifo"))
    assert_match(/name a regular file/, open_error(path_of("fifo")).message)
  end

  test "a foreign file is refused, and stays as it was" do
    [["text", "precious\n" * 10_000], ["short", "x"]].each do |name, content|
      File.write(path_of(name), content, perm: 0o600)
      assert_match(/#{path_of(name)}.*not a Larder cache/, open_error(path_of(name)).message)
      assert_equal content, File.read(path_of(name))
    end
  end

  test "with create: false a cache that is there is used, and none is made" do
    message = open_error(path_of("none.larder"), create: false).message
    assert_match(/#{path_of("none.larder")}: there is no cache/, message)
    assert_empty Dir.children(directory)
    open_cache("there.larder").set("k", "v")
    assert_equal "v", Larder::Cache.open(path_of("there.larder"), create: false) { |opened| opened.get("k") }
  end

  test "a cache makes its file also if one with create: false was opened before in the process" do
    Process.wait(fork { open_cache.set("k", "v") })
    looks = Larder::Cache.open(path_of, create: false)
    [{}, { lazy: true }].each do |options|
      File.delete(path_of)
      made = Larder::Cache.open(path_of, size: SIZE, **options)
      assert(eventually { made.set("k", "w") && File.exist?(path_of) })
      assert_equal "w", looks.get("k")
    end
  end

  test "with create: false what cannot be used is not replaced, and the error says why" do
    open_cache("old.larder").close
    File.open(path_of("old.larder"), "r+b") { |file| [0, 4096].each { |at| file.pwrite("\xFF" * 8, at + 8) } }
    before = File.binread(path_of("old.larder"))
    message = open_error(path_of("old.larder"), create: false).message
    assert_match(/old\.larder: it is damaged or of another version: the cache cannot be used any more/, message)
    assert_equal before, File.binread(path_of("old.larder"))
    File.write(path_of("text"), "precious", perm: 0o600)
    assert_match(/not a Larder cache/, open_error(path_of("text"), create: false).message)
    assert_equal %w[old.larder old.larder.lock text], Dir.children(directory).sort
  end

  test "a file that others may write to is refused" do
    open_cache("loose.larder").close
    File.chmod(0o666, path_of("loose.larder"))
    assert_match(/#{path_of("loose.larder")}.*writable by others/, open_error(path_of("loose.larder")).message)
  end

  test "a path below a file is refused" do
    File.write(path_of("file"), "")
    assert_includes open_error(path_of("file/cache.larder")).message, path_of("file")
  end

  test "a path that is too long is refused" do
    assert_match(/path is too long|name too long/i, open_error(path_of("d" * 5000)).message)
  end

  test "messages are UTF-8 in every locale, and show what is no text of a path" do
    script = <<~'RUBY'
      # encoding: UTF-8
      [["schön", "schön"], ["odd\xFF\n", "odd\\xFF\\x0A"], ["☕" * 80, "☕" * 80],
       ["a" + ("☕" * 2000), "☕..."]].each do |name, shown|
        path = File.join(ARGV[0], name.b)
        File.write(path, "x" * 9000, perm: 0o600) if name.size < 100
        Larder::Cache.open(path)
        abort "opened"
      rescue Larder::OpenError => e
        abort e.message.inspect unless e.message.encoding == Encoding::UTF_8 && e.message.valid_encoding?
        abort e.message.inspect unless e.message.include?(shown) && e.message.match?(/not a Larder cache|too long/)
      end
    RUBY
    [{ "LC_ALL" => "C" }, { "LC_ALL" => "C.UTF-8" }].each do |locale|
      output, status = Open3.capture2e(locale, RbConfig.ruby, "-I#{File.expand_path("../../../../lib", __dir__)}",
                                       "-rlarder", "-e", script, directory)
      assert_predicate status, :success?, output
    end
  end

  test "a directory that may not be written to is refused, naming it" do
    skip "needs root, to become a user whom file modes bind" unless Process.uid.zero?
    FileUtils.mkdir(path_of("closed"), mode: 0o555)
    File.chmod(0o755, directory)
    path = path_of("closed/cache.larder")
    message = in_child do
      Process::UID.change_privilege(NOBODY)
      Larder::Cache.open(path)
      "opened"
    rescue Larder::OpenError => e
      e.message
    end
    assert_match(/permission denied/i, message)
    assert_match(/#{path_of("closed")} belongs to root, .*: .*chown \S+ #{path_of("closed")}\z/, message)
  end

  test "a limit of this process is named with the command that raises it" do
    address_space = (File.read("/proc/self/status")[/^VmSize:\s*(\d+)/, 1].to_i << 10) + (64 << 20)
    { NOFILE: [4, /Too many open files: .*ulimit -n/], AS: [address_space, /Cannot allocate memory: .*ulimit -v/] }
      .each do |limit, (most, expected)|
        message = in_child do
          Process.setrlimit(limit, most)
          Larder::Cache.open(path_of("limited.larder"), size: 256 << 20)
          "opened"
        rescue Larder::OpenError => e
          e.message
        end
        assert_match(expected, message)
      end
  end

  test "another user's file is refused" do
    skip "needs root, to give a file away" unless Process.uid.zero?
    open_cache("given.larder").close
    File.chown(NOBODY, nil, path_of("given.larder"))
    assert_match(/belongs to another user/, open_error(path_of("given.larder")).message)
  end

  test "two processes that make the file at once share it" do
    10.times do |round|
      name = "race#{round}.larder"
      pids = 4.times.map do |i|
        fork do
          Larder::Cache.open(path_of(name), size: SIZE) { |c| c.set("k#{i}", "v#{i}") }
          exit!(0)
        end
      end
      pids.each { |pid| assert_predicate wait_for(pid), :success? }
      expected = 4.times.to_h { |i| ["k#{i}", "v#{i}"] }
      assert_equal expected, open_cache(name).get_multi(expected.keys)
    end
  end

  test "what stands in the way of a file is not looked for with each call" do
    File.write(path_of("place"), "")
    lazy = open_cache("place/lazy.larder", lazy: true)
    looks = 0
    seen = TracePoint.new(:call) { |call| looks += 1 if call.self.equal?(Larder::Obstacle) && call.method_id == :at }
    messages = seen.enable { Array.new(50) { assert_raises(Larder::OpenError) { lazy.set("k", "v") }.message } }
    messages.each { |message| assert_match(/k could not be changed: .*place is a file, and no file/, message) }
    assert_operator looks, :<, 25 # once a second, and machines are slow
  end

  test "where the file is required every call raises while it cannot be had, and nothing is remembered" do
    open_cache("place/required.larder").tap { |made| made.set_multi(%w[a b c].to_h { [_1, "1"] }) }.close
    block_place
    required = open_cache("place/required.larder", lazy: :required)
    [-> { required.get("a") }, -> { required.set("a", "2") }, -> { required.add("new", "2") },
     -> { required.cas("a", "1", "2") }, -> { required.delete("b") }, -> { required.increment("n") },
     -> { required.each_key.to_a }, -> { required.stats }, -> { required.clear }].each do |call|
      2.times do
        assert_match(/place is a file, and no file can be in it/, assert_raises(Larder::OpenError, &call).message)
      end
    end
    unblock_place
    assert_equal %w[1 1 1], required.get_multi(%w[a b c]).values
    assert_nil required.get("new")
  end

  test "where the file is required calls do not wait for ever for a disk that stands still" do
    on_disk_of_its_own do |disk|
      required = Larder::Cache.open(File.join(disk, "c.larder"), size: 1 << 20, lazy: :required)
      frozen(disk) do
        errors = Array.new(2) { assert_raises(Larder::OpenError) { required.get("k") } }
        assert_match(/the cache is being made, opened or closed/, errors.last.message)
      end
      assert(eventually { required.set("k", "v") rescue false }) # rubocop:disable Style/RescueModifier
    end
  end

  test "what is told of a file that cannot be had is UTF-8 whatever its path is" do
    ["schön ☕", "odd\xFF"].each do |name|
      File.write(path_of(name), "")
      [name, name.b, name.dup.force_encoding("ISO-8859-1")].each do |bytes|
        path = File.join(directory.b, bytes.b, "c.larder").force_encoding(bytes.encoding)
        late = Larder::Cache.open(path, lazy: true)
        message = assert_raises(Larder::OpenError) { late.get("k") }.message
        assert_predicate message, :valid_encoding?
        assert_equal Encoding::UTF_8, message.encoding
        assert_match(/ is a file, and no file can be in it/, message)
      ensure
        late&.close
      end
    end
  end

  test "how late a file is opened is one of four words" do
    [:later, "required", 1].each do |lazy|
      error = assert_raises(ArgumentError) { Larder::Cache.open(path_of, lazy: lazy) }
      assert_equal "lazy is #{lazy.inspect}; it takes true, false, :strict or :required", error.message
    end
  end

  private

  # A file where the directory should be: no user gets by it.
  def block_place
    File.rename(path_of("place"), path_of("away"))
    File.write(path_of("place"), "")
  end

  def unblock_place
    File.delete(path_of("place"))
    File.rename(path_of("away"), path_of("place"))
  end
end
