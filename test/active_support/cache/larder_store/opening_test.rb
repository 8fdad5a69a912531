# frozen_string_literal: true

require "support/environment"
require "support/frozen_disk"
require "support/openers_lock"
require "support/store_case"

module LarderStoreTests
  # A store is made without its file, and goes on without it.
  class OpeningTest < StoreCase
    include Environment
    include FrozenDisk
    include OpenersLock

    NOBODY = 65_534

    setup { @told = [] }

    def late(path, **options)
      handler = ->(method:, returning:, exception:) { @told << [method, returning, exception] }
      ActiveSupport::Cache.lookup_store(:larder_store, path, error_handler: handler, size: 4 << 20, **options)
    end

    def messages
      @told.map { |_, _, exception| exception.message }
    end

    # A file where the directory should be: no user gets by it.
    def closed(name = "place")
      File.write(File.join(directory, name), "")
      File.join(directory, name, "cache.larder")
    end

    def open_the_way
      File.delete(File.join(directory, "place"))
      sleep 1.1 # it is tried again every second
    end

    test "a store that is not used makes no file" do
      path = File.join(directory, "later", "cache.larder")
      store = late(path)
      store.inspect
      assert_not File.exist?(File.dirname(path))
      assert_nil store.read("key")
      assert File.exist?(path)
    end

    test "a fork of a store that was not used opens the file for itself" do
      path = File.join(directory, "later", "cache.larder")
      store = late(path)
      assert_equal 0, Process.wait2(fork { exit!(store.write("key", "of the child") ? 0 : 1) }).last.exitstatus
      assert_equal "of the child", store.read("key")
    end

    test "a file that cannot be opened is reported once, and reads are misses" do
      store = late(closed)
      assert_nil store.read("key")
      assert_nil store.read("key")
      assert_equal({}, store.read_multi("a", "b"))
      assert_same false, store.exist?("key")
      assert_equal 1, @told.size
      assert_match(/place is a file, and no file can be in it/, messages.first)
    end

    test "a delete, an overwrite and a clear that could not be applied are each reported every time" do
      store = late(closed)
      store.read("key")
      @told.clear
      2.times do
        store.delete("key")
        store.write("key", 1)
        store.clear
        store.delete_multi(["key"])
      end
      assert_equal %i[delete_entry write_entry clear delete_multi_entries] * 2, @told.map(&:first)
      assert(@told.all? { |_, _, exception| exception.is_a?(Larder::OpenError) })
    end

    test "they are applied when the file can be opened, before anything is read" do
      path = File.join(directory, "place", "cache.larder")
      in_another_process(path) { |store| %w[kept deleted overwritten].each { |key| store.write(key, "old") } }
      File.rename(File.join(directory, "place"), File.join(directory, "away"))
      File.write(File.join(directory, "place"), "")
      store = late(path)
      store.delete("deleted")
      store.write("overwritten", "new")
      File.delete(File.join(directory, "place"))
      File.rename(File.join(directory, "away"), File.join(directory, "place"))
      sleep 1.1
      assert_equal "old", store.read("kept")
      assert_nil store.read("deleted")
      assert_nil store.read("overwritten")
      assert_equal true, store.write("overwritten", "newer")
      assert_equal "newer", store.read("overwritten")
    end

    test "a delete by pattern that could not be applied is reported, and all is gone when the file can be opened" do
      path = File.join(directory, "place", "cache.larder")
      in_another_process(path) { |store| store.write("user/1", "old") }
      File.rename(File.join(directory, "place"), File.join(directory, "away"))
      File.write(File.join(directory, "place"), "")
      store = late(path)
      2.times { assert_nil store.delete_matched(/user/) }
      assert_equal %i[delete_matched delete_matched], @told.map(&:first)
      assert(messages.all? { |message| message.include?("place is a file, and no file") }, messages.inspect)
      File.delete(File.join(directory, "place"))
      File.rename(File.join(directory, "away"), File.join(directory, "place"))
      sleep 1.1
      assert_nil store.read("user/1")
      assert_raises(Larder::OpenError) { late(closed("elsewhere"), raise_errors: true).delete_matched("user/*") }
    end

    # A path that no file can have is no reason for a boot to stop, whoever names it.
    def assert_misses_and_one_report(report, path)
      [-> { late(path) }, -> { with_environment("LARDER_PATH" => path) { late(nil) } }].each do |made|
        sleep 1.1 # it is tried again every second, whichever store of the process asks
        @told.clear
        store = made.call
        assert_nil store.read("key")
        assert_nil store.read("key")
        assert_equal 1, @told.size, messages.inspect
        assert_match report, messages.first
        assert_nil store.write("key", 1)
        assert_same false, store.delete("key")
        assert_equal 3, @told.size
      end
      assert_raises(Larder::OpenError) { late(path, raise_errors: true).read("key") }
    end

    test "a path that is too long, or a name in it" do
      assert_misses_and_one_report(/\A#{directory}.*: the path is too long\. Name a file by fewer characters/,
                                   path_of("a" * 5000))
      assert_misses_and_one_report(/name too long.* Name a file by fewer characters/i, path_of("a" * 256))
    end

    test "a directory at the path, as Docker makes of a volume that is missing" do
      Dir.mkdir(path_of("volume"))
      assert_misses_and_one_report(%r{volume is a directory: name a file in it, such as #{path_of("volume")}/cache},
                                   path_of("volume"))
      assert_misses_and_one_report(/volume is a directory: name a file in it/, path_of("volume/"))
      assert_empty Dir.children(path_of("volume"))
    end

    test "a working directory that was removed" do
      Dir.mkdir(path_of("gone"))
      Dir.chdir(path_of("gone")) do
        Dir.rmdir(path_of("gone"))
        assert_misses_and_one_report(/the working directory was removed: start the process in one that is there/,
                                     "c.larder")
        with_environment("LARDER_PATH" => nil) { assert_nil late(nil).read("key") }
        absolute = late(path_of("absolute.larder"))
        assert_equal true, absolute.write("key", 1)
        absolute.keep_statistics
        named = with_environment("LARDER_PATH" => path_of("x/../named.larder")) { late(nil) }
        assert_equal path_of("named.larder"), named.cache.path
      end
      assert_equal ["absolute.larder", "absolute.larder.lock", "absolute.larder.stats"], Dir.children(directory).sort
    end

    test "a read-only file system, with the file and without it" do
      skip "needs root" unless Process.euid.zero?
      skip "no mount namespaces here" unless system("unshare", "--mount", "true", err: File::NULL)
      late(path_of("there/cache.larder")).write("key", 1)
      script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" || exit 77; shift; exec "$@"'
      tell = <<~RUBY
        ARGV.each do |path|
          handler = ->(exception:, **) { puts exception.message }
          ActiveSupport::Cache.lookup_store(:larder_store, path, error_handler: handler).read("key")
        end
      RUBY
      lib = File.expand_path("../../../../lib", __dir__)
      out, status = Open3.capture2e("unshare", "--mount", "sh", "-c", script, "sh", path_of("there"), RbConfig.ruby,
                                    "-I", lib, "-rbundler/setup", "-rlogger", "-ractive_support", "-rlarder",
                                    "-ractive_support/cache", "-e", tell,
                                    path_of("there/cache.larder"), path_of("there/inner/none.larder"))
      skip "no bind mounts here: #{out}" if status.exitstatus == 77
      lines = out.lines.grep(/Read-only file system/)
      assert_equal 2, lines.size, out
      assert_match(/#{path_of("there/cache.larder")} is on a read-only file system: .*LARDER_PATH/, lines.first)
      assert_match(/#{path_of("there")} is on a read-only file system: .*LARDER_PATH/, lines.last)
    end

    test "a directory that takes no files and is not read-only" do
      skip "no /proc here" unless File.directory?("/proc/self")
      store = late("/proc/self/cache.larder")
      assert_nil store.read("key")
      assert_match(%r{/proc/self takes no files, as it is on proc: .*LARDER_PATH}, messages.first)
      assert_no_match(/read-only file system|chown/, messages.first)
    end

    test "a directory whose owner may not write to it" do
      skip "needs root" unless Process.euid.zero?
      File.chmod(0o755, directory)
      Dir.mkdir(path_of("shut"), 0o555)
      File.chown(NOBODY, NOBODY, path_of("shut"))
      message = as_nobody do
        late(path_of("shut/cache.larder")).read("key")
        messages.first
      end
      assert_match(/shut has mode 555, by which its owner may not write to it/, message)
      assert_match(/: chmod u\+wx #{path_of("shut")}\z/, message)
    end

    test "with raise_errors each use raises, and the store can be made" do
      store = late(closed, raise_errors: true)
      2.times { assert_raises(Larder::OpenError) { store.read("key") } }
      open_the_way
      assert_nil store.read("key")
    end

    test "wrong arguments are raised when the store is made" do
      assert_raises(ArgumentError) { late(File.join(directory, "c.larder"), lock_timeout: -1) }
      assert_raises(ArgumentError) { ActiveSupport::Cache.lookup_store(:larder_store, directory, size: 17) }
    end

    test "the report names who owns the directory, who runs the process, and the command that fixes it" do
      skip "needs root" unless Process.euid.zero?
      File.chmod(0o755, directory)
      theirs = File.join(directory, "roots")
      Dir.mkdir(theirs, 0o755)
      message = as_nobody do
        store = late(File.join(theirs, "cache.larder"))
        store.read("key")
        messages.first
      end
      assert_match(/#{theirs} belongs to root, and nobody, who runs this process, may not write to it/, message)
      assert_match(/chown nobody #{theirs}\z/, message)
    end

    test "a file of another user's is named with both" do
      skip "needs root" unless Process.euid.zero?
      File.chmod(0o777, directory)
      path = File.join(directory, "cache.larder")
      late(path).write("key", "root's")
      message = as_nobody do
        store = late(path)
        [store.read("key"), messages.first].join
      end
      assert_match(/belongs to root, and this process runs as nobody: .*chown nobody/, message)
    end

    test "root leaves nothing of its own in another user's directory" do
      skip "needs root" unless Process.euid.zero?
      File.chmod(0o755, directory)
      theirs = File.join(directory, "theirs")
      Dir.mkdir(theirs)
      File.chown(NOBODY, NOBODY, theirs)
      late(File.join(theirs, "storage", "cache.larder")).write("key", "by root")
      assert_equal "by root", as_nobody { late(File.join(theirs, "storage", "cache.larder")).read("key") }
    end

    test "a process that makes a large file keeps nobody waiting" do
      path = File.join(directory, "cache.larder")
      reader, writer = IO.pipe
      pids = Array.new(8) do
        fork do
          store = late(path, size: 1 << 30)
          missed = store.read("key")
          written = 50.times.any? { sleep(0.1) unless (done = store.write("by", Process.pid)); done }
          writer.puts [missed.inspect, written].join(" ")
          exit!(0)
        end
      end
      pids.each { |pid| assert_equal 0, Process.wait2(pid).last.exitstatus }
      writer.close
      assert_equal ["nil true"] * 8, reader.readlines(chomp: true)
    end

    test "a web request gets misses and a report while the disk of the file hangs, and its changes are applied later" do
      on_disk_of_its_own do |disk|
        store = late(File.join(disk, "cache.larder"), size: 1 << 20)
        frozen(disk) do
          in_request do
            assert_nil store.read("key")
            assert_not store.write("key", 1)
          end
        end
        assert_equal %i[read_entry write_entry], @told.map(&:first)
        assert_equal 2, messages.grep(/the cache is being made, opened or closed/).size, messages.inspect
        assert_equal true, store.write("key", 2)
        assert_equal 2, store.read("key")
      end
    end

    # The calls that a script may begin with, and what they answer and leave of four entries.
    FIRST_CALLS = {
      "delete_matched('other/*')" => [0, %w[counter page tagged user/1]],
      "delete_matched('user/*')" => [1, %w[counter page tagged]],
      "delete_tagged('other')" => [true, %w[counter page tagged user/1]],
      "delete_tagged('tag')" => [true, %w[counter page user/1]],
      "clear(namespace: 'other')" => [true, %w[counter page tagged user/1]],
      "clear" => [true, []],
      "read('page')" => ["rendered", %w[counter page tagged user/1]],
      "write('new', 1)" => [true, %w[counter new page tagged user/1]],
      "delete('page')" => [true, %w[counter tagged user/1]],
      "increment('counter')" => [6, %w[counter page tagged user/1]],
      "keys.sort" => [%w[counter page tagged user/1], %w[counter page tagged user/1]],
      "stats[:fast_path][:on]" => [true, %w[counter page tagged user/1]],
      "stats[:items]" => [4, %w[counter page tagged user/1]]
    }.freeze

    FIRST_CALLS.each do |call, (answer, left)|
      test "#{call} as the first call of a process waits for another one that opens the file" do
        store.write_multi({ "page" => "rendered", "user/1" => 1, "counter" => 5 })
        store.write("tagged", 1, tags: "tag")
        store.cache.close
        first = late(path_of)
        assert_equal(answer, with_environment("RAILS_ENV" => "production") do
          while_opened_by_another(path_of) { first.instance_eval(call) }
        end)
        assert_equal left, first.keys.sort
        assert_empty @told
      end
    end

    test "stats has no figures where the file cannot be opened, and keys answers nil, or both raise" do
      store = late(closed)
      assert_equal({ fast_path: { on: false, reasons: ["its file is not open"] } }, store.stats)
      assert_nil store.keys
      assert_equal %i[stats keys], @told.map(&:first)
      strict = late(path_of("place/other.larder"), raise_errors: true)
      assert_raises(Larder::OpenError) { strict.stats }
      assert_raises(Larder::OpenError) { strict.keys }
    end

    def in_request(&block)
      Larder::WebRequest.new(->(_) { block.call }).call({})
    end

    private

    def in_another_process(path)
      pid = fork do
        yield late(path)
        exit # which closes the file
      end
      assert_equal 0, Process.wait2(pid).last.exitstatus
    end

    # @return [String] the block's answer, of a child that runs as nobody
    def as_nobody
      reader, writer = IO.pipe
      pid = fork do
        Process::GID.change_privilege(NOBODY)
        Process::UID.change_privilege(NOBODY)
        writer.write(yield)
        writer.close
        exit!(0)
      end
      writer.close
      answer = reader.read
      Process.wait(pid)
      answer
    end

    # Marks the file as made by a later version of Larder. Processes that have it open do not look at the mark.
    def made_by_newer(path)
      File.open(path, "r+b") { |file| [0, 4096].each { |superblock| file.pwrite([99].pack("L<"), superblock + 8) } }
    end

    test "a delete of a process of an older version is not lost to the newer ones, which have the file" do
      store.write("key", "old")
      made_by_newer(path_of)
      output = run_ruby(<<~RUBY, path_of)
        require "active_support/cache/larder_store"
        ActiveSupport::Cache.format_version = 7.1
        reports = []
        handler = ->(method:, returning:, exception:) { reports << [method, exception.message[/in use by a newer/]] }
        store = ActiveSupport::Cache::LarderStore.new(ARGV.first, error_handler: handler)
        p store.read("key"), store.write("key", "new"), store.delete("key"), reports.uniq
      RUBY
      assert_equal ["nil", "nil", "false", '[[:read_entry, "in use by a newer"], [:write_entry, "in use by a newer"]]'],
                   output.lines(chomp: true).first(4)
      assert_match(/this process could not apply 1 changes; .*: larder clear /, output.lines.last)
      assert_nil store.read("key")
      store.write("key", "of the newer")
      run_ruby(<<~RUBY, path_of)
        require "active_support/cache/larder_store"
        ActiveSupport::Cache.format_version = 7.1
        ActiveSupport::Cache::LarderStore.new(ARGV.first).delete_matched(/nothing/)
      RUBY
      assert_nil store.read("key"), "it is unknown which keys matched"
    end

    test "inspect never raises, and leaves the report to the next call" do
      told = []
      other = late(path_of, error_handler: ->(exception:, **) { told << exception.class })
      other.write("key", "value")
      script = "cache = Larder::Cache.open(ARGV.first); cache.resize(8 << 20); puts; $stdout.flush; $stdin.read"
      lib = File.expand_path("../../../../lib", __dir__)
      IO.popen([RbConfig.ruby, "-I#{lib}", "-rlarder", "-e", script, path_of], "r+") do |newer|
        newer.gets
        made_by_newer(path_of)
        assert_match(/larder \d+ bytes/, other.inspect)
        assert_empty told
        assert_nil other.read("key")
        assert_equal [Larder::OpenError], told
        assert_match(/larder \d+ bytes/, other.inspect)
      end
    end

    test "a file that is required is never cleared by an older version: the call raises" do
      store.write("key", "kept")
      made_by_newer(path_of)
      output = run_ruby(<<~RUBY, path_of)
        cache = Larder::Cache.open(ARGV.first, lazy: :required)
        p((cache.delete("key") rescue $!.class), (cache.clear rescue $!.class))
      RUBY
      assert_equal %w[Larder::OpenError Larder::OpenError], output.lines(chomp: true)
      assert_equal "kept", store.read("key")
    end
  end
end
