# frozen_string_literal: true

require "support/store_case"
require "support/command"
require "support/kubelet"
require "support/open_processes"
require "json"
require "socket"
require "larder/bytes/doctor"

module Larder
  # Each cause is made, is found alone, and is gone when the command that is named has run.
  class DoctorTest < StoreCase
    include Command
    include OpenProcesses

    FILE = "storage/larder/production/cache.larder"

    setup do
      FileUtils.mkdir_p(path_of("storage/larder/production"))
      @file = path_of(FILE)
      make
    end

    # A cache that is closed, so that whatever is done to the file is done to nobody.
    def make(size: 8 << 20)
      Cache.open(@file, size: size) { |cache| yield(cache) if block_given? }
    end

    def findings(subject = @file, **options)
      Doctor.run(subject, **options).findings
    end

    # The one finding, of that check. With `run`, its command is run and fixes it.
    def assert_found(check, what, fix, run: true)
      found = findings
      assert_equal [check], found.map(&:check), found.map(&:to_s).inspect
      assert_match what, found.first.what
      assert_match fix, found.first.fix
      return unless run

      path = { "PATH" => "#{File.dirname(Command::PROGRAM)}:#{ENV.fetch("PATH")}" }
      out, status = Open3.capture2e(path, "sh", "-c", found.first.fix, chdir: directory)
      assert_predicate status, :success?, out
      assert_empty findings.map(&:to_s)
    end

    def root!
      skip "only root may do this" unless Process.uid.zero?
    end

    # Runs a script with the path FILE in a container's own layer.
    #
    # @return [Object] what it prints in JSON
    def on_overlayfs(ruby)
      root!
      skip "no mount namespaces here" unless system("unshare", "--mount", "true", err: File::NULL) # as in a chroot
      script = <<~SH
        set -e
        mount -t tmpfs none "$1" && mkdir "$1/low" "$1/up" "$1/work" "$1/here"
        mount -t overlay overlay -o "lowerdir=$1/low,upperdir=$1/up,workdir=$1/work" "$1/here" || exit 77
        exec "$2" -I "$3" -r larder -r json -e "$4" "$1/here/cache.larder"
      SH
      out, status = Open3.capture2e("unshare", "--mount", "sh", "-c", script, "sh", Dir.mktmpdir(nil, directory),
                                    RbConfig.ruby, File.expand_path("../../../lib", __dir__), "FILE = ARGV[0]\n#{ruby}")
      skip "no overlayfs here: #{out}" if status.exitstatus == 77
      assert_predicate status, :success?, out
      JSON.parse(out)
    end

    # ---- sound ----

    test "quickly, it starts no program and reads no other file" do
      FileUtils.cp(@file, "#{@file}.old")
      assert_equal [:copies], findings.map(&:check)
      quick = Doctor.run(@file, quick: true)
      assert_empty quick.findings.map(&:to_s)
      assert_includes quick.sound, :opens
      assert_empty quick.sound.keys & %i[copies git journal]
    end

    test "it says how much memory the hints take, and whether processes share it" do
      skip "/dev/shm cannot be written to" unless File.writable?("/dev/shm")
      assert_equal "its hints take 0.2 MiB of memory in /dev/shm", Doctor.run(@file).sound.fetch(:hints)
    end

    test "where /dev/shm cannot be used, it says that the hints are in each process" do
      root!
      script = "mount -t tmpfs -o ro tmpfs /dev/shm && exec \"$0\" doctor \"$1\""
      out, status = Open3.capture2e("unshare", "--mount", "sh", "-c", script, Command::PROGRAM, @file)
      skip "no mounts of its own: #{out}" if out.start_with?("unshare:")
      assert_predicate status, :success?, out
      assert_includes out.split.join(" "), "its hints take up to 0.2 MiB of each process's memory: here they cannot " \
                                           "be shared in /dev/shm"
    end

    test "a sound cache has no findings, also while it is used" do
      report = Doctor.run(@file)
      assert_predicate report, :sound?
      assert_empty report.findings
      assert_equal %i[kind owner mode opens memory hints space layer copies damage pressure locks processes],
                   report.sound.keys
      assert_equal "#{@file} has no problems", report.to_s
      Cache.open(@file) { assert_predicate Doctor.run(@file), :sound? }
    end

    test "looking changes nothing" do
      make { |cache| cache.set("k", "v") }
      before = Dir.glob("#{directory}/**/*", File::FNM_DOTMATCH).sort
      Doctor.run(@file)
      assert_equal before, Dir.glob("#{directory}/**/*", File::FNM_DOTMATCH).sort
      make { |cache| assert_equal ["v", 1], [cache.get("k"), cache.stats[:hits]] }
    end

    # ---- the file ----

    test "a file of another user than its directory" do
      root!
      File.chown(1, nil, File.dirname(@file))
      found = findings
      assert_equal [:owner], found.map(&:check)
      assert_equal "cache.larder, cache.larder.lock belong to root, and the directory to daemon, who cannot use them",
                   found.first.what
      assert_equal "chown daemon #{@file} #{@file}.lock", found.first.fix
      [@file, "#{@file}.lock"].each { |file| File.chown(1, nil, file) }
      File.chmod(0o755, directory)
      assert_equal("[]", in_child do
        Process::UID.change_privilege(1)
        findings.map(&:to_s).inspect
      end)
    end

    test "a file in a directory where others may make files belongs to who made it" do
      root!
      [@file, "#{@file}.lock"].each { |file| File.chown(1, nil, file) }
      [0o1777, 0o2775].each do |mode|
        File.chmod(mode, File.dirname(@file))
        assert_empty(findings.select { |finding| finding.check == :owner })
      end
      File.chmod(0o755, File.dirname(@file))
      found = findings.find { |finding| finding.check == :owner }
      assert_match(/belongs to root, and the cache to daemon, who cannot create a new file/, found.what)
      assert_equal "chown daemon #{File.dirname(@file)}", found.fix
    end

    test "a file of the application's user, checked by another user" do
      root!
      [@file, "#{@file}.lock", File.dirname(@file)].each { |file| File.chown(1, nil, file) }
      found = findings.reject { |finding| finding.check == :owner }
      if found.any? # where root may use it there is nothing to find
        assert_equal [[:opens, Remedy.as_user(1, "larder doctor #{@file}")]], found.map { |each|
          [each.check, each.fix]
        }
      end
    end

    test "a file that others may touch" do
      File.chmod(0o664, @file)
      assert_found :mode, /\Acache\.larder has mode 664: users other than the owner may/, /\Achmod 600 /
      File.chmod(0o644, "#{@file}.lock")
      assert_found :mode, /cache\.larder\.lock has mode 644/, /\Achmod 600 /
    end

    # ---- what is at the path ----

    # The one finding, whose command, which is run, changes nothing that is there.
    def assert_left_alone(path, what, fix)
      before = state_of(path)
      found = findings(path)
      assert_equal [:kind], found.map(&:check), found.map(&:to_s).inspect
      assert_match what, found.first.what
      assert_match fix, found.first.fix
      Open3.capture2e({ "PATH" => "#{File.dirname(Command::PROGRAM)}:#{ENV.fetch("PATH")}" }, "sh", "-c",
                      found.first.fix, chdir: directory)
      assert_equal before, state_of(path)
    end

    def state_of(path)
      info = File.lstat(path)
      [info.ftype, info.mode, info.uid, info.size, info.ino]
    end

    test "a file that is not Larder's is left as it is, whoever may read it and whatever its size" do
      File.write(path_of("notes"), "notes " * 10_000, perm: 0o666)
      File.chmod(0o666, path_of("notes"))
      File.truncate(path_of("notes"), 1 << 40)
      what = /\Ait is not a Larder cache, but .* does not change; choose another path or remove it\z/
      with_size("64MB") { assert_left_alone(path_of("notes"), what, /\A# name another path/) }
      File.chmod(0o600, path_of("notes"))
      words = assert_raises(OpenError) { Cache.open(path_of("notes")) }.message
      assert_includes words, "the file is not a Larder cache; choose another path or remove it"
      assert_left_alone("/etc/passwd", /it is not a Larder cache/, /\A# name another path/)
      out, _, code = larder("doctor", "/etc/passwd")
      assert_equal 1, code
      assert_no_match(/chmod|chown|mv |rm |remove it/, out)
    end

    test "a file without a cache in it" do
      File.write(path_of("empty"), "")
      assert_left_alone(path_of("empty"), /there is no cache in it/, /\A# name another path/)
    end

    test "a directory, a link, a FIFO and a socket" do
      Dir.mkdir(path_of("inner"))
      assert_left_alone(path_of("inner"), /it is a directory: name a file in it/, /\A# name another path/)
      File.mkfifo(path_of("fifo"))
      assert_left_alone(path_of("fifo"), /it is a FIFO/, /\A# name another path/)
      UNIXServer.open(path_of("socket")) do
        assert_left_alone(path_of("socket"), /it is a socket/, /\A# name another path/)
      end
      File.symlink(path_of("nowhere"), path_of("link"))
      assert_left_alone(path_of("link"), /it is a symbolic link/, /\A# name another path/)
      assert_match(/it is a symbolic link/, larder("doctor", path_of("link")).first.gsub(/\s+/, " "))
    end

    test "a file that this user may not read" do
      root!
      ["", "storage", "storage/larder", File.dirname(FILE)].each { |each| File.chmod(0o755, path_of(each)) }
      fix = Remedy.command?("sudo") ? "sudo -u root larder doctor #{@file}" : "run as root: larder doctor #{@file}"
      assert_equal([[:kind, "only root may read it", fix]], in_child do
        Process::UID.change_privilege(1)
        findings.map(&:to_a)
      end)
    end

    test "the lock file of a cache, whose removal would empty the cache" do
      make { |cache| cache.set("k", "v") }
      lock = "#{@file}.lock"
      assert_left_alone(lock, /it is the lock file of #{@file}/, /\Alarder doctor #{@file}\z/)
      make { |cache| assert_equal "v", cache.get("k") }
    end

    test "something else where the lock file should be" do
      lock = "#{@file}.lock"
      makers = { "FIFO" => -> { File.mkfifo(lock) }, "directory" => -> { Dir.mkdir(lock) },
                 "socket" => -> { UNIXServer.open(lock, &:path) },
                 "file of another program" => -> { File.write(lock, "1") },
                 "link" => -> { File.symlink("/nowhere", lock) } }
      makers.each do |name, maker|
        FileUtils.rm_rf(lock)
        maker.call
        found = findings
        assert_equal [[:kind, "cache.larder.lock is a #{name}, where the cache's lock file should be"]],
                     found.map { |each| [each.check, each.what] }
        assert_match(/\Amv #{lock} #{lock}\.other\d*\z/, found.first.fix)
        system("sh", "-c", found.first.fix, exception: true)
        make
        assert_empty findings.map(&:to_s), name
      end
    end

    test "files that cannot be changed" do
      [@file, "#{@file}.lock", File.dirname(@file)].each do |file|
        skip "no attributes here" unless system("chattr", "+i", file, err: File::NULL)
        assert_found :attributes, /\A#{File.basename(file)} cannot be changed/, /\Achattr -ia #{file}\z/
      ensure
        system("chattr", "-i", file, err: File::NULL)
      end
    end

    test "a path of any bytes is checked, and shown in valid UTF-8" do
      file = path_of("\xFF.larder")
      Cache.open(file, size: 1 << 20, &:itself)
      [file, file.b].each { |path| assert_equal "#{path_of("\\xFF.larder")} has no problems", Doctor.run(path).to_s }
      File.chmod(0o666, file)
      assert_match(/\A\\xFF\.larder has mode 666/, findings(file).first.what)
      missing = findings(path_of("\xFE.larder"), size: 900 << 30).first
      assert_match(/takes 921600/, missing.what)
      assert_predicate missing.to_s, :valid_encoding?
    end

    test "a store that has no file yet" do
      store = ActiveSupport::Cache.lookup_store(:larder_store, path_of("none.larder"))
      assert_equal [:kind], findings(store).map(&:check)
      assert_not File.exist?(path_of("none.larder"))
    end

    test "a store that has no file yet, and has no room for one of its size" do
      store = ActiveSupport::Cache.lookup_store(:larder_store, path_of("none.larder"), { size: "900GB" })
      found = findings(store)
      assert_equal [:kind], found.map(&:check)
      assert_match(/\Athere is no file\. #{path_of("none.larder")} takes 921600\.0 MiB, and .* are free\z/,
                   found.first.what)
      assert_match(/takes 921600/, findings(path_of("none.larder"), size: 900 << 30).first.what)
    end

    test "a file that is damaged" do
      File.open(@file, "r+b") { |file| [0, 4096].each { |at| file.pwrite("\0" * 80, at + 8) } }
      found = findings
      assert_equal [:opens], found.map(&:check)
      assert_match(/cannot be used any more; its application replaces it/, found.first.what)
      system("sh", "-c", found.first.fix, exception: true)
      make
      assert_empty findings
    end

    test "a file of which parts are not reserved" do
      punched = system("fallocate", "--punch-hole", "--offset", (1 << 20).to_s, "--length", (7 << 20).to_s, @file,
                       err: File::NULL) # an empty shard
      skip "no holes here" unless punched
      skip "holes are not told of here" if File.stat(@file).blocks * 512 > 4 << 20
      assert_found :space, /of 8\.0 MiB only \d\.\d MiB are reserved on the disk/, /\Afallocate --length 8388608 /
    end

    test "a file that was extended, whose cache is what it was" do
      make { |cache| cache.set("k", "v") }
      File.truncate(@file, 1 << 42)
      assert_found :space, /the file was extended to 4194304\.0 MiB, of which the cache uses 8\.0 MiB/,
                   /\Atruncate --size 8388608 /
      make { |cache| assert_equal "v", cache.get("k") }
    end

    test "names of any bytes, in a locale without UTF-8" do
      odd = path_of("sch\u00f6n.larder")
      Cache.open(odd, size: 1 << 20, &:size)
      assert_includes done("doctor", odd, env: { "LC_ALL" => "C" }), "No problems."
      FileUtils.cp(odd, "#{odd}\xFF".b)
      out, _, code = larder("doctor", odd, env: { "LC_ALL" => "C" })
      assert_equal [1, "n.larder\\xFF is a copy"], [code, out[/n\.larder\S+ is a copy/]]
    end

    test "a process that maps files with names of any bytes, in a locale without UTF-8" do
      odd = path_of("sch\u00f6n.larder")
      Cache.open(odd, size: 8 << 20) do |cache|
        40.times { |i| cache.set(i.to_s, "x" * 20_000) }
        assert_includes done("doctor", odd, env: { "LC_ALL" => "C" }), "No problems."
      end
    end

    test "modes that fsGroup of Kubernetes has changed" do
      Kubelet.start_pod(directory, Process.egid)
      assert_found :mode, /\Acache\.larder, .*lock have mode 660/, /\Achmod 600 .* fsGroupChangePolicy: OnRootMismatch/
    end

    test "a file system that is read-only" do
      root!
      skip "no mount namespaces here" unless system("unshare", "--mount", "true", err: File::NULL)
      script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" || exit 77; shift; exec "$@"'
      out, status = Open3.capture2e("unshare", "--mount", "sh", "-c", script, "sh", File.dirname(@file), RbConfig.ruby,
                                    Command::PROGRAM, "doctor", @file, "--json")
      skip "no bind mounts here: #{out}" if status.exitstatus == 77
      assert_equal [["opens", "# name a path on a volume that can be written to"]],
                   JSON.parse(out)["findings"].map { |found| found.values_at("check", "fix") }
    end

    test "a control group with less memory than the file" do
      root!
      parent = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"].find { |path| File.writable?("#{path}/cgroup.procs") }
      skip "no control groups here" unless parent
      group = "#{parent}/larder-doctor-#{Process.pid}"
      Dir.mkdir(group)
      limit = %w[memory.max memory.limit_in_bytes].map { |name| "#{group}/#{name}" }.find { |name| File.exist?(name) }
      skip "groups of here have no memory controller" unless limit
      make
      File.rename(@file, path_of("small")) # of 8 MiB; this one is larger than the group's memory
      FileUtils.rm_f("#{@file}.lock")
      make(size: 256 << 20)
      File.write(limit, (128 << 20).to_s)
      found = in_child do
        File.write("#{group}/cgroup.procs", Process.pid.to_s)
        findings.map(&:to_a)
      end
      fix = "larder resize #{@file} 64MB # replaces the cache by an empty one"
      assert_equal [[:memory, "the file has 256.0 MiB, and processes here may use 128.0 MiB of memory: the part " \
                              "that does not fit is read from disk repeatedly", fix]], found
    ensure
      Dir.rmdir(group) if group && Dir.exist?(group)
    end

    test "the layer of a container" do
      found = on_overlayfs(<<~RUBY)
        Larder::Cache.open(FILE, size: 1 << 20, &:size)
        puts Larder::Doctor.run(FILE).findings.to_h { |found| [found.check, found.fix] }.to_json
      RUBY
      assert_match(/\Adocker run --volume larder:.*here/, found["layer"])
    end

    test "in a process that has caches open, there it drops no locks of theirs" do
      before, after = on_overlayfs(<<~'RUBY')
        require "active_support/cache/larder_store"
        other = Larder::Cache.open("#{FILE}.other", size: 1 << 20)
        store = ActiveSupport::Cache::LarderStore.new(FILE, size: 1 << 20)
        store.write("k", 1)
        mine = / POSIX .* #{Process.pid} /
        locks = -> { File.readlines("/proc/locks").grep(mine).map { |line| line.split.drop(1) }.sort }
        before = locks.call
        Larder::Doctor.run(store)
        puts [before, locks.call].to_json
      RUBY
      assert_operator before.size, :>=, 2
      assert_equal before, after
    end

    # ---- the place ----

    test "copies beside it" do
      FileUtils.cp(@file, "#{@file}.bak")
      FileUtils.cp("#{@file}.lock", "#{@file}.lock~")
      File.write("#{@file}.txt", "no copy")
      assert_found :copies, /cache\.larder\.bak, cache\.larder\.lock~ are copies of this cache or its lock/, /\Arm /
    end

    # As it would drop its locks where they are POSIX locks: on overlayfs and macOS.
    test "a process that has the cache open looks for copies, and opens no lock file" do
      FileUtils.cp(@file, "#{@file}.bak")
      Cache.open("#{@file}.other", size: 1 << 20, &:path)
      found, opened = in_child do
        opened = []
        File.singleton_class.prepend(Module.new do
          define_method(:binread) { |file, *rest| super(opened.push(file).last, *rest) }
        end)
        store = Struct.new(:cache) { def stats = {} }
        [Cache.open(@file) { |cache| findings(store.new(cache)).map(&:check) }, opened]
      end
      assert_includes found, :copies
      assert_includes opened, @file
      assert_empty opened.grep(/\.lock\z/)
    end

    test "git that would track it in the root of the repository" do
      system("git", "-C", directory, "init", "--quiet", exception: true)
      @file = path_of("cache 1.larder")
      make
      assert_found :git, /git does not ignore it/, %r{\Aecho /cache\\ 1\.larder\\\* >> .*/\.gitignore\z}
    end

    test "git that tracks it, and git that would" do
      git = lambda do |*words|
        system("git", "-C", directory, "-c", "user.name=t", "-c", "user.email=t@t", *words, exception: true,
                                                                                            out: File::NULL)
      end
      git.("init", "--quiet")
      File.write(path_of("Gemfile"), "")
      assert_found :git, /git does not ignore it/, %r{\Aecho /storage/larder/production/ >> .*/\.gitignore\z}
      git.("add", "--force", "storage")
      git.("commit", "--quiet", "-m", "all of it")
      assert_found :git, /git tracks cache\.larder, cache\.larder\.lock: each clone and image has them/,
                   /\Agit rm --cached/, run: false
      git.("rm", "--quiet", "--cached", "-r", "storage")
      assert_empty findings
      assert_includes Doctor.run(@file).sound.keys, :git
    end

    # ---- its use ----

    test "another size than the one that is configured" do
      with_size("64MB") do
        assert_found :size, /LARDER_SIZE is 64MB, and the file has 8\.0 MiB/, /\Alarder resize \S+ 64MB/
      end
      with_size("64 MiB") { assert_includes Doctor.run(@file).sound.keys, :size }
      with_size("much") do
        assert_found :size, /LARDER_SIZE "much" is no size/, /\Aexport LARDER_SIZE=64MB/, run: false
      end
    end

    def with_size(text)
      ENV["LARDER_SIZE"] = text
      yield
    ensure
      ENV.delete("LARDER_SIZE")
    end

    test "a subject that is neither a path nor a store is named, and a Pathname is one" do
      make
      assert_predicate Doctor.run(Pathname.new(@file)), :sound?
      [5, nil, Object.new, Struct.new(:cache).new(7), Struct.new(:cache).new(nil)].each do |subject|
        error = assert_raises(::ArgumentError) { Doctor.run(subject) }
        assert_equal "a doctor checks the path of a file or a LarderStore, not #{subject.inspect}", error.message
      end
      ["", "  ", "a\0b"].each { |path| assert_raises(::ArgumentError, path.inspect) { Doctor.run(path) } }
      error = assert_raises(::ArgumentError) { Doctor.run(@file, sessions: 5) }
      assert_equal "sessions: 5 must respond to call, which gets the open cache", error.message
      assert_match(/size must be an Integer/, assert_raises(TypeError) { Doctor.run(@file, size: "1GB") }.message)
    end

    test "records that were damaged" do
      make { |cache| cache.set("k", "v" * 100) }
      bytes = File.binread(@file)
      File.open(@file, "r+b") { |file| file.pwrite("w", bytes.index("v" * 100)) }
      make { |cache| assert_nil cache.get("k") }
      assert_found :damage, /\A1 record was damaged, and 0 of \d+ shards emptied/,
                   /\Alarder resize \S+ 8MB # replaces the cache by an empty one\z/
    end

    test "a file that is too small for what is read" do
      make(size: 8 << 20) do |cache|
        6000.times do |i|
          cache.set("k#{i}", "v" * 4000)
          cache.get("k#{(i * 7919) % 6000}")
        end
      end
      assert_found :pressure, /it is full, \d+ % of reads find something, and \d+ % of stored items were evicted/,
                   /\Alarder resize \S+ 16MB # replaces the cache by an empty one\z/
    end

    test "a full file with too few reads is not said to have enough hits" do
      make(size: 8 << 20) { |cache| 6000.times { |i| cache.set("k#{i}", "v" * 4000) } }
      report = Doctor.run(@file)
      assert_empty report.findings.map(&:to_s)
      assert_not_includes report.sound.keys, :pressure
    end

    test "pinned items that fill their room" do
      make do |cache|
        assert_raises(FullError) { (0..).each { |i| cache.set("k#{i}", "v" * 4000, pin: true) } }
      end
      assert_found :pinned, /\A\d+ % of the room for pinned items is used; when it is full, stores with `pin: true`/,
                   /\Alarder resize --keep \S+ 16MB # while the application is stopped\z/
      assert_includes Doctor.run(@file).sound.keys, :pinned
    end

    test "as many processes as it has room for, and a command has room" do
      FileUtils.rm(Dir["#{@file}*"])
      make(size: 1 << 20)
      with_processes(60, @file) do
        message = assert_raises(OpenError) { Cache.open(@file) }.message
        assert_match(/#{FILE} \(2 MiB have room for more than its 60 processes\): no .*\(larder resize\)\z/, message)
        assert_found :processes, /\A60 processes have it open, and it has room for 60: in others each read is a miss/,
                     /\Alarder resize \S+ 2MB # replaces the cache by an empty one\z/
        Cache.open(@file) { |cache| assert_equal 124, cache.stats[:process_room] }
      end
    end

    test "a process that was stopped in the middle of a write" do
      writer = fork { Cache.open(@file) { |cache| loop { cache.set("long", "x" * 500_000) } } }
      Cache.open(@file, create: false) do |cache|
        caught = 2000.times.any? do
          sleep(rand * 0.005)
          Process.kill(:STOP, writer)
          Process.wait(writer, Process::WUNTRACED)
          cache.stats[:locked_shards].positive? || (Process.kill(:CONT, writer) && false)
        end
        assert caught, "it was never stopped under a lock"
      end
      assert_found :locks, /\A1 of its \d+ shards are locked, and process #{writer} is stopped: until it goes on, /,
                   /\Akill -CONT #{writer}\z/
    ensure
      Process.kill(:KILL, writer)
      Process.wait(writer)
    end

    test "more configurations of stores than it has room for" do
      stores = lambda do |lives|
        lives.each { |life| new_store(FILE, remote: :memory_store, remote_id: "a", local_expires_in: life).cache.close }
      end
      stores.call(1..7)
      assert_empty findings
      stores.call([8])
      assert_empty findings, "a deploy that was the eighth"
      stores.call(1..6)
      assert_found(:configurations, /stores of more than 7 configurations use it.*local_expires_in:.*emptied at 20/m,
                   /\Agrep .*# give stores the same values, or other paths/, run: false)
      stores.call([7])
      assert_empty findings
    end

    test "a file of sessions is asked for only where a problem is found, and its items are kept" do
      asked = []
      sessions = ->(cache) { asked << cache.path }
      assert_predicate Doctor.run(@file, sessions: sessions), :sound?
      assert_empty asked
      with_size("64MB") do
        assert_equal ["larder resize --keep #{@file} 64MB # while the application is stopped"],
                     Doctor.run(@file, sessions: sessions).findings.map(&:fix)
      end
      assert_equal [@file], asked
    end

    test "an application whose fast path is off" do
      store = new_store(FILE)
      assert_predicate Doctor.run(store), :sound?
      assert_includes Doctor.run(store).sound.keys, :fast_path
      store.extend(Module.new { def read(...) = super.itself })
      found = findings(store)
      assert_equal [:fast_path], found.map(&:check)
      assert_match(/calls use Rails' slower ordinary path: this store object was extended or stubbed: #<Module/,
                   found.first.what)
      store.cache.close
    end

    # Yields the id of another process that has the cache open.
    def with_process(variables)
      program = "cache = Larder::Cache.open(ARGV[0]); cache.get('k'); puts 'open'; $stdout.flush; $stdin.read"
      IO.popen([variables, RbConfig.ruby, "-I#{File.expand_path("../../../lib", __dir__)}", "-rlarder", "-e", program,
                @file], "r+") do |process|
        assert_equal "open\n", process.tap { |one| one.sync = true }.gets || flunk("it has ended")
        yield process.pid
      end
    end

    test "processes that give the memory of long values back are named, without a finding" do
      Larder::Cache.open(@file) { |cache| 20.times { |i| cache.set("key #{i}", "x" * 20_000) } }
      [[{}, true], [{ "MALLOC_TRIM_THRESHOLD_" => "268435456" }, false],
       [{ "GLIBC_TUNABLES" => "glibc.malloc.trim_threshold=268435456" }, false]].each do |variables, named|
        with_process(variables) do |pid|
          report = Doctor.run(@file)
          assert_predicate report, :sound?
          assert_equal named, report.sound.fetch(:heap).include?("malloc of process #{pid} gives"), variables.inspect
        end
      end
    end

    test "of short values the memory of processes is not checked, also if they are few" do
      [[1, 1], [20, 2000]].each do |count, bytes|
        Larder::Cache.open(@file) { |cache| count.times { |i| cache.set("key #{i}", "x" * bytes) } }
        with_process({}) { assert_not_includes Doctor.run(@file).sound.keys, :heap }
      end
    end

    # ---- the command ----

    test "larder doctor prints what it has checked, and exits with 0" do
      text = done("doctor", env: { "RAILS_ENV" => "production" })
      assert_match(/\ACache #{FILE}\n\n  ok    it is a cache of Larder's\n  ok    its files belong to the owner of/,
                   text)
      assert_match(/\n\nNo problems\.\n\z/, text)
      assert_equal({ "file" => @file, "sound" => true, "findings" => [] },
                   JSON.parse(done("doctor", @file, "--json")).except("checked"))
    end

    test "larder doctor prints each problem and its fix, in 80 columns, and exits with 1" do
      File.chmod(0o640, @file)
      out, err, code = larder("doctor", FILE)
      assert_equal ["", 1], [err, code]
      assert_includes out, "\n  fix   "
      assert_includes out, "\n          chmod 600 #{@file}\n\n1 problem.\n"
      assert_operator out.lines.grep_v(/^          chmod/).map { |line| line.chomp.size }.max, :<=, 80
      out, = larder("doctor", FILE, "--json")
      assert_equal [["mode", "chmod 600 #{@file}"]],
                   JSON.parse(out)["findings"].map { |found| found.values_at("check", "fix") }
    end

    test "an environment that is no name of a directory is refused" do
      assert_equal 2, refused(/environment "\.\.\/x" .* is no name of a directory/, "doctor",
                              env: { "RAILS_ENV" => "../x" })
    end

    test "larder doctor says where it looked" do
      message = %r{there is no file storage/larder/development/cache\.larder in }
      assert_equal 1, refused(message, "doctor", env: { "RAILS_ENV" => "development" })
    end
  end
end
