# frozen_string_literal: true

# The thread that listens is ended in several ways, and another one goes on.

require "support/backplane_case"

module LarderStore
  # Larder::Remote::Backplane::Listener.
  class BackplaneListenerTest < BackplaneCase
    # Error handlers of applications.
    class Fatal < Exception; end # rubocop:disable Lint/InheritException

    NOBODY = 65_534

    test "messages of any kind do not end it" do
      one, two = listening("one"), listening("two")
      texts = ["k" * 5000, "k" * 100_000, "", "\0"].map { |text| [text].pack("m0") }
      messages = [*%w[keys tags prefix odd].map { |kind| [1, "x", kind, texts] }, [1, "x", "keys", "text"], [1], 5, nil,
                  [2, "x", "new"], [1, "x", "keys", [["k"]]], [1, "x", "keys", ["not Base64"]]].map(&:to_json)
      [*messages, "", "\xff", "[" * 1000, "{}", "1e999"].each { |message| tell(message) }
      one.write("k", "old")
      assert(eventually { two.read("k") == "old" && two.cache.trusted? })
      one.write("k", "new")
      assert(eventually { two.read("k") == "new" })
    end

    test "an error handler that raises does not end it" do
      goes_on_with(error_handler: ->(exception:, **) { raise exception })
    end

    test "raise_errors: does not end it" do
      goes_on_with(raise_errors: true)
    end

    test "if an exception of any kind ends it, another process of the machine listens" do
      goes_on_with(error_handler: ->(**) { raise Fatal })
    end

    test "if the application ends the thread, its lock is free, and the process starts another one" do
      one = listening("one")
      listener, waiting = threaded_peer, peer("two")
      assert(eventually { listener.call(:read, "none") || listener.call(:trusted?) })
      waiting.call(:read, "none")
      one.write("k", "old")
      assert_equal "old", waiting.call(:read, "k")
      listener.call(:end_threads)
      Kernel.sleep(3.5) # longer than the trust of before
      assert(eventually { waiting.call(:trusted?) })
      one.write("k", "new")
      assert(eventually { waiting.call(:read, "k") == "new" })
      waiting.kill
      assert(eventually { listener.call(:read, "none") || listener.call(:trusted?) })
    end

    test "a child process that is left alone by its parent does not keep the lock" do
      one = listening("one")
      parent = Peer.new do
        listening("two").tap { |store| store.define_singleton_method(:leave) { fork { Kernel.sleep } } }
      end
      (@peers ||= []) << parent
      left = parent.call(:leave)
      waiting = peer("two")
      waiting.call(:read, "none")
      parent.kill
      one.write("k", "old")
      assert(eventually { waiting.call(:read, "k") == "old" && waiting.call(:trusted?) })
    ensure
      Process.kill(:KILL, left) if left
    end

    test "a file that cannot be changed for a while does not end it" do
      one, two = listening("one"), listening("two")
      one.write("k", "old")
      assert_equal "old", two.read("k")
      File.truncate(path_of("two.larder"), 0)
      one.write("k", "new")
      assert(eventually { two.read("k") == "new" })
      assert(eventually { two.read("none") || two.cache.trusted? })
    end

    test "the first call in a directory that is not there yet reports nothing" do
      errors = []
      store = ActiveSupport::Cache.lookup_store(
        :larder_store, path_of("new/one.larder"), { size: SIZE, remote: [:file_store, path_of("remote")],
                                                    backplane: backplane, local_expires_in: LONG,
                                                    error_handler: ->(exception:, **) { errors << exception } }
      )
      (@machines ||= []) << store
      store.read("none", raw: true)
      assert(eventually { store.read("none") || store.cache.trusted? })
      assert_empty errors.map(&:message)
    end

    test "root leaves the lock to the owner of the directory" do
      skip "needs root" unless Process.euid.zero?
      theirs = path_of("theirs").tap { |path| Dir.mkdir(path) }
      File.chown(NOBODY, NOBODY, theirs)
      in_child { listening("theirs/one").write("k", 1) }
      files = Dir.children(theirs)
      assert_equal 1, files.grep(/\.backplane\.\h{16}\z/).size, files.inspect
      assert_empty files.reject { |file| File.stat(File.join(theirs, file)).uid == NOBODY }
    end

    private

    def tell(message)
      client = RedisClient.new(path: @server.endpoint.fetch("socket"))
      client.call("PUBLISH", "larder", message)
    ensure
      client&.close
    end

    # A machine has two processes. The first one has the options and is idle. One listens again after an outage.
    def goes_on_with(**options)
      one = listening("one")
      listener = quiet_peer(**options)
      assert(eventually { listener.call(:read, "none") || listener.call(:trusted?) })
      waiting = peer("two", error_handler: nil)
      waiting.call(:read, "none")
      TestServers.kill(@server)
      assert(eventually { !waiting.call(:trusted?) })
      @server.start
      assert(eventually { waiting.call(:read, "none") || waiting.call(:trusted?) })
      one.write("k", "old")
      assert(eventually { waiting.call(:read, "k") == "old" })
      one.write("k", "new")
      assert(eventually { waiting.call(:read, "k") == "new" })
    end

    # Without what its threads print.
    def quiet_peer(**options)
      Peer.new do
        $stderr.reopen(File::NULL)
        machine("two", **options)
      end.tap { |made| (@peers ||= []) << made }
    end

    # A process that can end all its threads but one.
    def threaded_peer
      Peer.new do
        machine("two").tap do |store|
          store.define_singleton_method(:end_threads) do
            (Thread.list - [Thread.current]).each { |thread| thread.kill.join }.size
          end
        end
      end.tap { |made| (@peers ||= []) << made }
    end
  end
end
