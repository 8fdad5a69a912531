# frozen_string_literal: true

# The journal of changes that the remote store has not got: several remote stores at one path, and a file that is cut,
# removed, replaced or cannot be used. Over real Redis servers that are killed.

require "support/journal_case"

module LarderStore
  # Larder::Remote::Outbox::Journal.
  class RemoteJournalTest < JournalCase
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
      journal.instance_variable_set(:@renew_at, 0) # a day later
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
        assert_equal({ waiting: true, listed: nil, overflown: nil, trusted: true, listener: nil },
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

    private

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
      store.instance_variable_get(:@remote).outbox.journal
    end

    def fill(store)
      FULL.times.each_slice(1000) { |slice| store.delete_multi(slice.map { |number| "#{"key" * 40}#{number}" }) }
      assert store.stats[:remote][:overflown]
    end
  end
end
