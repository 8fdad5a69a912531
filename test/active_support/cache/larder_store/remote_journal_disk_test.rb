# frozen_string_literal: true

# The journal on a file system that is full, read-only or has no room for another file.

require "support/journal_case"
require "larder/bytes/doctor"

module LarderStore
  # Larder::Remote::Outbox::Journal, on file systems of its own.
  class RemoteJournalDiskTest < JournalCase
    setup do
      @a = start("redis")
      write_on(@a, "k" => "old")
      @reports = []
    end

    test "without room for the journal the remote store is used, each process reports that once, and how to end it" do
      on_disk do |disk, _|
        two = store_on(disk)
        assert_equal "old", two.read("k")
        assert_equal [Larder::OpenError], @reports.map(&:class)
        assert_match(/journal takes 4 MiB, and there is too little room: .*df -h #{disk}/, @reports.first.message)
        3.times { two.read("none") && two.write("n", 1) }
        assert_equal 1, @reports.size
        in_child { assert_nil(two.read("none")) && assert_equal(2, @reports.size) }
      end
    end

    test "without room for the journal a delete is remembered, and no other process asks until it was applied" do
      on_disk do |disk, _|
        two, other = store_on(disk), store_on(disk)
        TestServers.kill(@a)
        two.delete("k")
        assert_equal [nil, nil], [two.read("k"), other.read("k")]
        revive(@a, "k" => "old")
        assert_nil other.read("k")
        assert_match(/not asked.*4 MiB/, @reports.last.message)
        assert(eventually { two.read("none").nil? && !exist?(@a, "k") })
        assert_empty Dir.glob("#{disk}/*.pending")
        assert_equal [true, "new"], [two.write("k", "new"), other.read("k")]
      end
    end

    test "without room for the journal the remote store is cleared once there is room, if the process was killed" do
      on_disk do |disk, resize|
        two = store_on(disk)
        TestServers.kill(@a)
        killed = fork { two.delete("k") && Process.kill(:KILL, Process.pid) }
        Process.wait(killed)
        revive(@a, "k" => "old")
        3.times { assert_nil two.read("k") }
        resize.call("size=30m")
        assert(eventually { two.read("k").nil? && !two.stats[:remote][:waiting] })
        assert_not exist?(@a, "k")
        assert_empty Dir.glob("#{disk}/*.pending")
        assert_equal [true, "new"], [two.write("k", "new"), read_on(@a, "k")]
      end
    end

    test "two processes that have changes in memory each apply theirs" do
      on_disk do |disk, _|
        two, three = store_on(disk), store_on(disk)
        TestServers.kill(@a)
        two.delete("k")
        three.delete("j")
        revive(@a, "k" => "old", "j" => "old")
        assert(eventually { [two, three].none? { |store| store.read("none") } && !exist?(@a, "k") && !exist?(@a, "j") })
        assert(eventually { [two, three].none? { |store| store.stats[:remote][:waiting] } })
      end
    end

    test "a process whose journal was removed, and has no room for the next one, knows that changes were listed" do
      on_disk("nr_inodes=12") do |disk, resize|
        two = store_on(disk)
        two.read("none")
        TestServers.kill(@a)
        two.delete("k")
        FileUtils.rm_f(Dir.glob("#{disk}/two.larder.journal*"))
        assert_raises(Errno::ENOSPC) { (1..).each { |number| File.write("#{disk}/#{number}", "") } }
        in_child { store_on(disk).read("none") } # notices that
        revive(@a, "k" => "old")
        assert_nil two.read("k")
        assert_match(/not asked.*4 MiB/, @reports.last.message)
        resize.call("nr_inodes=100")
        assert(eventually { two.read("k").nil? && !two.stats[:remote][:waiting] })
        assert_not exist?(@a, "k")
      end
    end

    test "the doctor names the cause where there is no journal" do
      machine("one", remote: on(@a)).read("k")
      assert_equal :sound, finding_of("one")
      on_disk do |disk, resize|
        store_on(disk).read("k")
        assert_match(/two.larder.journal takes 4.0 MiB, and \d\.\d MiB are free/, finding_of("disk/two").what)
        TestServers.kill(@a)
        store_on(disk).delete("k")
        found = Larder::Doctor.run(path_of("disk/two.larder")).findings.map(&:check)
        assert_equal [:journal], found & %i[journal remote]
        resize.call("size=30m")
        assert_equal :sound, finding_of("disk/two")
      end
    end

    test "a full file system of few files has no room for the journal either" do
      on_disk("size=30m,nr_inodes=5") do |disk, _|
        two = store_on(disk).tap { |store| store.cache.size } # opens its file
        File.write("#{disk}/last", "")
        TestServers.kill(@a)
        two.delete("k")
        revive(@a, "k" => "old")
        assert(eventually { two.read("none").nil? && !exist?(@a, "k") })
        assert_match(/of files: df -i/, @reports.first.message)
      end
    end

    test "on a read-only file system the remote store is used, and a process reports once that there is no journal" do
      on_disk("ro") do |disk, _|
        two = store_on(disk)
        write_on(@a, "j" => 1)
        assert_equal ["old", true], [two.read("k"), two.delete("j")]
        2.times { two.read("k") && two.delete("j") }
        assert_not exist?(@a, "j")
        assert_equal 1, of_journal.size
        assert_match(/\Athere is no list of the .*#{disk} is on a read-only file system: name a file on a volume/,
                     of_journal.first)
      end
    end

    test "on a read-only file system a delete that fails is remembered by its process alone, and applied" do
      on_disk("ro") do |disk, remount|
        two = store_on(disk)
        two.read("k")
        TestServers.kill(@a)
        assert_equal false, two.delete("k")
        assert_equal [Larder::RemoteError], @reports.map(&:class).uniq - [Larder::OpenError]
        revive(@a, "k" => "old")
        assert_equal "old", in_child { store_on(disk).read("k") }, "it cannot know"
        assert_nil two.read("k")
        assert(eventually { two.read("none").nil? && !exist?(@a, "k") })
        assert_not two.stats[:remote][:waiting]
        remount.call("rw")
        assert(eventually { two.read("none").nil? && File.exist?("#{disk}/two.larder.journal") })
        assert_equal [true, "new"], [two.write("k", "new"), in_child { store_on(disk).read("k") }]
      end
    end

    test "if the file system is read-only when the journal is there, nothing is read, and deletes are applied" do
      on_disk("size=30m") do |disk, remount|
        in_child { store_on(disk).read("k") }
        remount.call("ro")
        two = store_on(disk)
        assert_equal [nil, false], [two.read("k"), two.delete("k")]
        assert_match(/is not asked, as its journal cannot be read: .*is on a read-only file system: name a file on/,
                     @reports.grep(Larder::RemoteError).first.message)
        assert_nil(in_child { store_on(disk).read("k") })
        assert(eventually { two.read("none").nil? && !exist?(@a, "k") })
        remount.call("rw")
        assert(eventually { two.write("k", "new") && in_child { store_on(disk).read("k") } == "new" })
        assert_not two.stats[:remote][:waiting]
      end
    end

    test "a directory that this user may not write to has the effect of a read-only file system" do
      on_disk("size=30m,mode=755") do |disk, _|
        [directory, File.dirname(@a.endpoint.fetch("socket"))].each { |place| File.chmod(0o755, place) }
        File.chmod(0o777, @a.endpoint.fetch("socket"))
        found = in_child do
          Process::UID.change_privilege(1)
          two = store_on(disk)
          [two.read("k"), two.delete("k"), of_journal]
        end
        assert_equal ["old", true], found.first(2)
        assert_match(/#{disk} belongs to root, and daemon, .* may not write to it: .*chown daemon #{disk}\z/,
found.last.first)
        assert_not exist?(@a, "k")
      end
    end

    test "a journal that is there has its room, also if the file system is full and takes not even an empty file" do
      on_disk("size=30m,nr_inodes=12") do |disk, _|
        two = store_on(disk)
        two.read("none")
        assert_raises(Errno::ENOSPC) { (1..).each { |number| File.write("#{disk}/#{number}", "x" * (8 << 20)) } }
        assert_raises(Errno::ENOSPC) { (1..).each { |number| File.write("#{disk}/empty#{number}", "") } }
        TestServers.kill(@a)
        two.delete("k")
        assert_empty Dir.glob("#{disk}/*.pending")
        revive(@a, "k" => "old")
        assert_nil(in_child { store_on(disk).read("k") })
        assert(eventually { two.read("none").nil? && !exist?(@a, "k") && !two.stats[:remote][:waiting] })
        assert_empty of_journal
      end
    end

    test "the doctor says why there can be no file on a read-only file system" do
      on_disk("ro") do |disk, _|
        found = Larder::Doctor.run("#{disk}/two.larder").findings.first
        assert_equal [:kind, "# do what the last sentence says"], [found.check, found.fix]
        assert_match(/\Athere is no file\. #{disk} is on a read-only file system: name a file on a volume/, found.what)
      end
    end

    private

    # @return [Array<String>] reports that there is none
    def of_journal
      @reports.map(&:message).grep(/\Athere is no list/)
    end

    # Yields the path of a file system, and a proc that mounts it again with other options.
    #
    # @param options [String] the default has no room for a journal
    def on_disk(options = "size=3m")
      skip "needs root and tmpfs" unless Process.euid.zero?

      disk = path_of("disk").tap { |place| Dir.mkdir(place) }
      assert system("mount", "-t", "tmpfs", "-o", options, "tmpfs", disk)
      begin
        yield disk, ->(changed) { assert system("mount", "-o", "remount,#{changed}", disk) }
      ensure
        system("umount", "--lazy", disk)
      end
    end

    # @return [Larder::Doctor::Finding, Symbol, nil] of the check of the journal
    def finding_of(name)
      report = Larder::Doctor.run(path_of("#{name}.larder"))
      report.findings.find { |finding| finding.check == :journal } || (:sound if report.sound.key?(:journal))
    end

    # A store whose file may not be there. Its errors are in @reports.
    def store_on(disk)
      handler = ->(exception:, **) { @reports << exception }
      ActiveSupport::Cache.lookup_store(:larder_store, "#{disk}/two.larder", remote: on(@a), size: 1 << 20,
                                                                             error_handler: handler)
    end
  end
end
