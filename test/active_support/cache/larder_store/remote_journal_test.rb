# frozen_string_literal: true

# The journal of changes that the remote store has not got: several remote stores at one path, and a file that is cut,
# removed, replaced or cannot be used. Over real Redis servers that are killed.

require "support/remote_case"
require "redis"

module LarderStore
  # Larder::Store::Remote::Journal.
  class RemoteJournalTest < RemoteCase
    # Long keys that are more than the journal takes.
    FULL = 25_000

    setup do
      @a, @b = start("redis"), start("redis")
      @one = machine("one", remote: on(@a))
      @one.write("k", "old")
    end

    test "changes that one server has not got stay listed while processes of another server apply theirs" do
      two = machine("one", remote: on(@b))
      two.write("k", "old")
      TestServers.kill(@a)
      @one.delete("k")
      assert(eventually { two.read("none").nil? && two.stats[:remote][:listed].zero? })
      assert_not exist?(@b, "k"), "the change is for all servers that are in use"
      assert_equal 1, @one.stats[:remote][:listed]
      write_on(@b, "k" => "newer")
      revive(@a, "k" => "old")
      assert(eventually { @one.read("none").nil? && !@one.stats[:remote][:waiting] })
      assert_not exist?(@a, "k")
      assert_equal "newer", read_on(@b, "k"), "each list is applied to its own server"
    end

    test "a key of any encoding is listed" do
      write_on(@a, "ä" => "old")
      TestServers.kill(@a)
      assert_nothing_raised { @one.delete("ä") }
      assert_nothing_raised { @one.delete_multi(["k", "ä", "\xff".b]) }
      assert_equal 3, @one.stats[:remote][:listed]
      revive(@a, "k" => "old", "ä" => "old")
      assert(eventually { @one.read("none").nil? && !@one.stats[:remote][:waiting] })
      assert_equal [false, false], ["k", "ä"].map { |key| exist?(@a, key) }
    end

    test "another name of the same server gets what is listed under the first" do
      TestServers.kill(@a)
      in_child { @one.delete("k") && @one.delete_matched("m*") }
      revive(@a, "k" => "old", "m1" => "old", "other" => 1)
      name = path_of("link").tap { |link| File.symlink(@a.endpoint.fetch("socket"), link) }
      two = machine("one", remote: at("unix://#{name}"))
      assert(eventually { two.read("k").nil? && !two.stats[:remote][:waiting] })
      assert_equal [false, false, true], %w[k m1 other].map { |key| exist?(@a, key) }
      assert_equal 2, @one.stats[:remote][:listed], "the list of the first name is as it was"
    end

    test "another name of the same server is cleared where the list of the first has overflown" do
      TestServers.kill(@a)
      fill(@one)
      revive(@a, "k" => "old")
      name = path_of("link").tap { |link| File.symlink(@a.endpoint.fetch("socket"), link) }
      two = machine("one", remote: at("unix://#{name}"))
      assert(eventually { two.read("k").nil? && !two.stats[:remote][:waiting] })
      assert_not exist?(@a, "k")
      assert_equal true, two.write("k", "new")
      assert_equal "new", read_on(@a, "k")
    end

    test "an overflow clears all namespaces that processes of the path use" do
      olds, news = %w[sha1 sha2].map { |name| machine("one", remote: on(@a), namespace: name) }
      olds.read("none")
      TestServers.kill(@a)
      fill(news)
      revive(@a, "sha1:k" => "old", "sha2:k" => "old", "k" => "old", "theirs:k" => 1)
      assert(eventually { news.read("k").nil? && !news.stats[:remote][:waiting] })
      assert_equal [false, false], %w[sha1:k sha2:k].map { |key| exist?(@a, key) }
      assert_nil olds.read("k")
    end

    test "no read is a miss when several callers use a path for the first time at the same moment" do
      50.times do |number|
        stores = Array.new(4) { machine("first#{number}", remote: on(@a)) }
        assert_equal ["old"] * 4, stores.map { |store| Thread.new { store.read("k") } }.map(&:value)
      end
    end

    { "cut to nothing" => ->(journal) { File.truncate(journal, 0) },
      "cut in the middle" => ->(journal) { File.truncate(journal, 1 << 20) },
      "removed" => ->(journal) { File.delete(journal) } }.each do |how, damage|
      test "no delete is forgotten where the journal is #{how} under a running process" do
        TestServers.kill(@a)
        @one.delete("k")
        damage.call(path_of("one.larder.journal"))
        @one.delete("j")
        revive(@a, "k" => "old", "j" => "old")
        late = machine("one", remote: on(@a))
        assert(eventually { [@one, late].all? { |store| store.read("none").nil? && !store.stats[:remote][:waiting] } })
        assert_equal [nil, nil, nil, nil], [@one, late].flat_map { |store| [store.read("k"), store.read("j")] }
        assert_equal [false, false], %w[k j].map { |key| exist?(@a, key) }
        assert_equal true, late.write("k", "new")
        assert_equal "new", @one.read("k")
      end

      test "a journal that is #{how} while it lists nothing clears nothing" do
        TestServers.kill(@a)
        @one.delete("j")
        revive(@a, "k" => "old")
        assert(eventually { @one.read("none").nil? && !@one.stats[:remote][:waiting] })
        damage.call(path_of("one.larder.journal"))
        late = machine("one", remote: on(@a))
        assert(eventually { [@one, late].all? { |store| store.read("k") == "old" } })
      end
    end

    test "no delete is forgotten that was listed in a removed file when another process had made the next one" do
      while_another_opens("two") do |two, open|
        TestServers.kill(@a)
        file = path_of("two.larder.journal")
        File.rename(file, "#{file}.first")
        open.call
        File.rename(file, "#{file}.next")
        File.rename("#{file}.first", file)
        journal_of(two).send(:cache).set("look", "") # so that the next change does not look for the file
        File.rename("#{file}.next", file)
        two.delete("k")
        in_child { machine("two", remote: on(@a)).read("none") } # notices that the file is not there
        revive(@a, "k" => "old")
        late = machine("two", remote: on(@a))
        assert(eventually { [two, late].all? { |store| store.read("none").nil? && !store.stats[:remote][:waiting] } })
        assert_not exist?(@a, "k")
      end
    end

    test "a change that a killed process has listed in a removed file is noticed by those that use the next one" do
      two = machine("two", remote: on(@a))
      two.read("none")
      journal = journal_of(two)
      journal.instance_variable_get(:@mark).make # all that is left of it
      write_on(@a, "k" => "old")
      journal.define_singleton_method(:monotonic_now) { super() + Larder::Store::Remote::Journal::Members::DAY }
      assert(eventually { two.read("k").nil? && !two.stats[:remote][:waiting] })
      assert_not exist?(@a, "k")
    end

    test "a process that has seen listed changes remembers that where all files of the journal are removed" do
      TestServers.kill(@a)
      late = machine("one", remote: on(@a))
      in_child { @one.delete("k") }
      assert_nil late.read("k")
      FileUtils.rm_f(Dir.glob(path_of("one.larder.journal*")))
      in_child { machine("one", remote: on(@a)).read("none") } # makes the next one
      revive(@a, "k" => "old")
      assert(eventually { late.read("k").nil? && !late.stats[:remote][:waiting] })
      assert_not exist?(@a, "k")
    end

    { "a directory" => ->(journal) { Dir.mkdir(journal) },
      "a file of something else" => ->(journal) { File.write(journal, "x" * 5000) },
      "a file of another user" => lambda do |journal|
        File.write(journal, "")
        File.chown(65_534, nil, journal)
      end }.each do |what, make|
      test "with #{what} in place of the journal nothing is asked or forgotten, and stats says what is not known" do
        skip "needs root" if what.include?("user") && !Process.euid.zero?
        make.call(path_of("two.larder.journal"))
        two = machine("two", remote: on(@a), error_handler: nil)
        write_on(@a, "k" => "old")
        assert_nil two.read("k")
        assert_equal false, two.delete("k")
        assert_equal({ waiting: true, listed: nil, overflown: nil, trusted: true },
                     two.stats[:remote].except(:store))
        FileUtils.rm_rf(path_of("two.larder.journal"))
        assert(eventually { two.read("none").nil? && !two.stats[:remote][:waiting] })
        assert_not exist?(@a, "k"), "the process has remembered the delete"
        assert_equal true, two.write("k", "new")
      end
    end

    test "with a journal that is replaced by a directory under a running process the list stays where it was" do
      TestServers.kill(@a)
      @one.delete("k")
      journal = path_of("one.larder.journal")
      File.rename(journal, "#{journal}.other")
      Dir.mkdir(journal)
      @one.delete("j")
      revive(@a, "k" => "old", "j" => "old")
      assert_nil @one.read("k")
      late = machine("one", remote: on(@a), error_handler: nil)
      assert_nil late.read("k")
      Dir.rmdir(journal)
      File.rename("#{journal}.other", journal)
      assert(eventually { late.read("k").nil? && @one.read("k").nil? && !late.stats[:remote][:waiting] })
      assert(eventually { !exist?(@a, "k") && @one.read("j").nil? && !exist?(@a, "j") })
    end

    test "without room for the journal the remote store is used, each process reports that once, and how to end it" do
      on_full_disk do |disk, _|
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
      on_full_disk do |disk, _|
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
      on_full_disk do |disk, resize|
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
      on_full_disk do |disk, _|
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
      on_full_disk("nr_inodes=12") do |disk, resize|
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
      assert_equal :sound, finding_of("one")
      on_full_disk do |disk, resize|
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
      on_full_disk("size=30m,nr_inodes=5") do |disk, _|
        two = store_on(disk)
        File.write("#{disk}/last", "")
        TestServers.kill(@a)
        two.delete("k")
        revive(@a, "k" => "old")
        assert(eventually { two.read("none").nil? && !exist?(@a, "k") })
        assert_match(/of files: df -i/, @reports.first.message)
      end
    end

    private

    # Yields its path, and a proc that changes its size.
    def on_full_disk(options = "size=3m")
      skip "needs root and tmpfs" unless Process.euid.zero?

      disk = path_of("disk").tap { |place| Dir.mkdir(place) }
      assert system("mount", "-t", "tmpfs", "-o", options, "tmpfs", disk)
      begin
        yield disk, ->(size) { assert system("mount", "-o", "remount,#{size}", disk) }
      ensure
        system("umount", "--lazy", disk)
      end
    end

    # @return [Larder::Doctor::Finding, Symbol, nil] of the check of the journal
    def finding_of(name)
      report = Larder::Doctor.run(path_of("#{name}.larder"))
      report.findings.find { |finding| finding.check == :journal } || (:sound if report.sound.key?(:journal))
    end

    # Its errors are in @reports.
    def store_on(disk)
      handler = ->(exception:, **) { (@reports ||= []) << exception }
      machine(File.join(File.basename(disk), "two"), remote: on(@a), size: 1 << 20, error_handler: handler)
    end

    # Yields a machine, and a proc that has another process of it open the journal, which it has not opened before.
    def while_another_opens(name)
      orders, answers = Array.new(2) { IO.pipe }
      child = fork do
        orders.last.close
        orders.first.gets && machine(name, remote: on(@a)).read("none")
        answers.last.puts
        orders.first.gets
        Process.exit!(true)
      end
      yield machine(name, remote: on(@a)).tap { |store| store.write("k", "old") },
            -> { orders.last.puts || answers.first.gets }
    ensure
      orders.last.close
      Process.wait(child)
    end

    def journal_of(store)
      store.instance_variable_get(:@remote).journal
    end

    def on(server)
      at(server.endpoint.fetch("url"))
    end

    def at(url)
      [:redis_cache_store, { url: url, reconnect_attempts: 0, coder: Larder::Coder.new, error_handler: nil }]
    end

    # It has lost its memory; these entries are there again, as of a snapshot.
    def revive(server, entries)
      server.start
      write_on(server, entries)
    end

    def write_on(server, entries)
      plain(server).write_multi(entries)
    end

    def read_on(server, key)
      plain(server).read(key)
    end

    def exist?(server, key)
      plain(server).exist?(key)
    end

    def plain(server)
      ActiveSupport::Cache.lookup_store(on(server))
    end

    def fill(store)
      FULL.times.each_slice(1000) { |slice| store.delete_multi(slice.map { |number| "#{"key" * 40}#{number}" }) }
      assert store.stats[:remote][:overflown]
    end
  end
end
