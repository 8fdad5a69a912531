# frozen_string_literal: true

# The files that a store with `remote:` and `backplane:` makes next to its cache: what `larder doctor` finds about them,
# and what the store reports.

require "support/backplane_case"
require "larder/bytes/doctor"

module Larder
  # Each cause is made for each of the files, is found alone, and is gone when the command that is named has run.
  class DoctorCompanionsTest < BackplaneCase
    # The files, by the names that the doctor gives them.
    FILES = { "the cache's lock file" => ".lock", "the cache's statistics" => ".stats",
              "the journal of remote:" => ".journal",
              "the journal's lock file" => ".journal.lock", "a lock file of backplane:" => ".backplane.*" }.freeze
    # They may be in the place of a file.
    OTHERS = { "directory" => ->(file) { Dir.mkdir(file) }, "link" => ->(file) { File.symlink("/nowhere", file) },
               "FIFO" => ->(file) { File.mkfifo(file) },
               "file of another program" => ->(file) { File.write(file, "notes\n", perm: 0o600) } }.freeze
    DAEMON = 1
    BIN = 2

    setup do
      Dir.mkdir(path_of("app"))
      @file = path_of("app/one.larder")
      in_child do # so that this process has none of the files open
        store = listening("app/one")
        store.write("k", 1)
        store.keep_statistics
      end
    end

    FILES.each do |name, ending|
      test "#{name} that belongs to another user" do
        root!
        file = companion(ending)
        File.chown(DAEMON, nil, file)
        assert_found :owner, "#{File.basename(file)} belongs to daemon, and the directory to root, who cannot use it",
                     "chown root #{file}"
      end

      test "#{name} that others may use" do
        file = companion(ending)
        File.chmod(0o646, file)
        assert_found :mode, "#{File.basename(file)} has mode 646: users other than the owner may read or change it",
                     "chmod 600 #{file}"
      end

      next if ending == ".lock" # DoctorTest has that

      OTHERS.each do |what, make|
        test "a #{what} in the place of #{name}" do
          file = companion(ending)
          File.delete(file)
          make.call(file)
          assert_found :kind, "#{File.basename(file)} is a #{what}, where #{name} should be", "mv #{file} #{file}.other"
        end
      end
    end

    test "a directory in the place of a mark of the journal" do
      mark = "#{@file}.journal.0123456789abcdef.pending"
      Dir.mkdir(mark)
      assert_found :kind, "#{File.basename(mark)} is a directory, where a mark of the journal should be",
                   "mv #{mark} #{mark}.other"
    end

    test "files of several users and modes are named together" do
      root!
      lock, journal, _, backplane = FILES.values.map { |ending| companion(ending) }
      File.chown(DAEMON, nil, journal)
      File.chown(BIN, nil, lock, backplane)
      File.chmod(0o640, lock, journal)
      found = findings
      assert_equal [:owner, "#{File.basename(lock)}, #{File.basename(backplane)} belong to bin, " \
                            "#{File.basename(journal)} belongs to daemon, and the directory to root, who cannot use " \
                            "them"], [found.first.check, found.first.what]
      assert_equal [:mode, "#{File.basename(lock)}, #{File.basename(journal)} have mode 640: users other than the " \
                           "owner may read or change them"], [found.last.check, found.last.what]
      found.each { |each| run_command(each.fix) }
      assert_empty findings.map(&:to_s)
    end

    test "files of two users in a directory where all users may make some" do
      root!
      File.chmod(0o1777, path_of("app"))
      file = companion(".backplane.*")
      File.chown(DAEMON, nil, file)
      assert_found :owner, "#{File.basename(file)} belongs to daemon, and the cache to root, who cannot use it",
                   "chown root #{file}"
    end

    test "a user who does not own a file gets commands for root" do
      root!
      give_to_daemon
      lock = companion(".backplane.*")
      File.chown(0, nil, lock)
      File.chmod(0o644, lock)
      fixes = as_daemon { findings.to_h { |found| [found.check, found.fix] } }
      assert_equal({ owner: "chown daemon #{lock}", mode: "chmod 600 #{lock}" },
                   fixes.transform_values { |fix| for_root(fix) })
      assert_not_equal fixes.values, fixes.values.map { |fix| for_root(fix) }
      fixes.each_value { |fix| run_command(for_root(fix)) }
      assert_empty as_daemon { findings.map(&:to_s) }
    end

    test "in a sticky directory root moves a file that belongs to another user" do
      root!
      give_to_daemon
      File.chown(0, nil, path_of("app"))
      File.chmod(0o1777, path_of("app"))
      journal = companion(".journal")
      File.delete(journal)
      Dir.mkdir(journal)
      fix = as_daemon { findings.map(&:fix) }.first
      assert_equal [true, "mv #{journal} #{journal}.other"], [for_root(fix) != fix, for_root(fix)]
    end

    test "a directory that is mounted in the place of a file" do
      root!
      journal = companion(".journal")
      File.delete(journal)
      Dir.mkdir(journal)
      skip "no bind mounts here" unless system("mount", "--bind", path_of("remote"), journal, err: File::NULL)
      begin
        assert_equal [[:kind, "umount #{journal}"]], (findings.map { |found| [found.check, found.fix] })
      ensure
        system("umount", journal)
      end
    end

    test "a directory that takes no journal has its own remedy" do
      root!
      give_to_daemon
      File.delete(companion(".journal"))
      File.chmod(0o555, path_of("app"))
      found = as_daemon { findings.map(&:to_a) }
      assert_equal [:journal, "# do what the last sentence says"], found.first.values_at(0, 2)
      assert_match(/app has mode 555, by which its owner may not write to it: chmod u\+wx \S+app\z/, found.first[1])
      run_command(found.first[1][/chmod .*/])
      assert_empty as_daemon { findings.map(&:to_s) }
    end

    test "files with other names do not belong to the cache" do
      %w[.journal.0123456789abcdef.pending.old .backplane.x .other2 .journal.other .journals].each do |ending|
        File.write("#{@file}#{ending}", "notes")
        File.chmod(0o666, "#{@file}#{ending}")
      end
      assert_empty findings.map(&:to_s)
    end

    test "git that tracks the journal" do
      journal = companion(".journal")
      [%w[init], ["add", "--force", journal]].each do |words|
        assert system("git", "-C", directory, *words, out: File::NULL, err: File::NULL)
      end
      found = findings.find { |each| each.check == :git }
      assert_equal ["git tracks one.larder.journal: each clone and image has it", "git rm --cached #{journal}"],
                   [found.what, found.fix]
    end

    # ---- reports of the store ----

    test "a lock file of the backplane that cannot be opened is reported with its owner and a command" do
      root!
      give_to_daemon
      lock = companion(".backplane.*")
      File.chown(0, nil, lock)
      FileUtils.chown_R(DAEMON, nil, path_of("remote"))
      message = as_daemon { report_of_the_listener }
      assert_match(/\Athis process cannot listen to the backplane: Permission denied/, message)
      assert_includes message, "#{lock} belongs to root, and this process runs as daemon: "
      assert_equal "chown daemon #{lock}", for_root(message[/daemon: (.*)/, 1])
    end

    { "directory" => "directory", "link" => "symbolic link" }.each do |what, name|
      test "a #{name} in the place of the lock file of the backplane is reported with a command" do
        lock = companion(".backplane.*")
        File.delete(lock)
        OTHERS.fetch(what).call(lock)
        assert_includes report_of_the_listener, "#{lock} is a #{name}, where a file of Larder's is to be: " \
                                                "mv #{lock} #{lock}.other, or name another path"
      end
    end

    test "a directory in the place of the journal is reported with a command that moves it" do
      journal = companion(".journal")
      File.delete(journal)
      Dir.mkdir(journal)
      messages = []
      handler = ->(exception:, **) { messages << exception.message }
      machine("app/one", error_handler: handler, backplane: nil).delete("k")
      machine("app/one", error_handler: handler, backplane: nil).read("other")
      assert_includes messages.join("\n"), "#{journal} is a directory, where a file of Larder's is to be: " \
                                           "mv #{journal} #{journal}.other, or name another path"
    end

    private

    def companion(ending)
      Dir.glob("#{@file}#{ending}").first || flunk("no #{ending} among #{Dir.children(path_of("app"))}")
    end

    def findings
      Doctor.run(@file).findings
    end

    # The one finding. Its command is run.
    def assert_found(check, what, fix)
      found = findings
      assert_equal [[check, what, fix]], found.map(&:to_a)
      run_command(fix)
      assert_empty findings.map(&:to_s)
    end

    def run_command(command)
      out, status = Open3.capture2e("sh", "-c", command)
      assert_predicate status, :success?, out
    end

    def root!
      skip "needs root" unless Process.euid.zero?
    end

    # The directory and all that is in it, which others may look into.
    def give_to_daemon
      [directory, path_of("app")].each { |place| File.chmod(0o755, place) }
      FileUtils.chown_R(DAEMON, nil, path_of("app"))
    end

    def as_daemon
      in_child do
        Process::UID.change_privilege(DAEMON)
        yield
      end
    end

    # @return [String] the command without what makes it one of root
    def for_root(fix)
      fix.delete_prefix("sudo ").delete_prefix("run as root: ")
    end

    def report_of_the_listener
      messages = Thread::Queue.new
      store = machine("app/one", error_handler: ->(exception:, **) { messages << exception.message })
      store.read("k")
      in_time { messages.pop }
    ensure
      store&.instance_variable_get(:@backplane)&.stop
    end
  end
end
