# frozen_string_literal: true

# Errors in the backplane's threads stay there: with Thread.abort_on_exception they would end the process.

require "support/backplane_case"

module LarderStore
  # Tests for every server.
  module BackplaneThreadsTests
    extend ActiveSupport::Concern

    included do
      test "a server that is killed does not end a process with abort_on_exception" do
        one, strict = listening("one"), strict_peer("two")
        TestServers.kill(@server)
        goes_on(strict)
        @server.start
        assert(eventually { strict.call(:read, "none") || strict.call(:trusted?) })
        one.write("k", "old")
        assert_equal "old", strict.call(:read, "k")
      end

      test "a server that is stopped does not end one" do
        strict = strict_peer("two")
        halt(@server)
        goes_on(strict)
        resume(@server)
        assert(eventually { strict.call(:read, "none") || strict.call(:trusted?) })
      end
    end

    private

    # The listener and changes try to connect until no copy is trusted, and once more.
    def goes_on(peer)
      assert(eventually { peer.call(:write, "k", 1) && !peer.call(:trusted?) })
      reports = peer.call(:reports)
      assert(eventually { peer.call(:write, "k", 2) && peer.call(:reports) > reports })
    end

    # Any thread that ends by an error ends this process. It trusts its copies.
    def strict_peer(name)
      BackplaneCase::Peer.new do
        $stderr.reopen(File::NULL)
        Thread.abort_on_exception = true
        reports = 0
        machine(name, error_handler: ->(**) { reports += 1 }).tap do |store|
          store.define_singleton_method(:reports) { reports }
        end
      end.tap do |made|
        (@peers ||= []) << made
        assert(eventually { made.call(:read, "none") || made.call(:trusted?) })
      end
    end
  end

  # With redis-client.
  class BackplaneThreadsOverRedisTest < BackplaneCase
    include BackplaneThreadsTests

    test "neither does a host or a certificate that is missing" do
      ["redis://name.invalid", { url: "rediss://127.0.0.1:1", ssl_params: { ca_file: "/none" } }].each do |missing|
        Thread.abort_on_exception = true
        errors = Queue.new
        store = machine("one", backplane: missing, error_handler: ->(exception:, **) { errors << exception })
        2.times { store.write("k", 1) }
        2.times { assert_match "backplane", errors.pop.message }
      ensure
        Thread.abort_on_exception = false
      end
    end

    test "a journal that cannot be changed does not end the thread that says that all copies are old" do
      Dir.mkdir(path_of("one.larder.journal"))
      held = proxy
      one = machine("one", backplane: "redis://127.0.0.1:#{held.port}")
      journal, telling = journal_of(one), telling_of(one)
      held.hold(/larder/n)
      journal.unsent!
      told = telling.start
      assert(eventually { held.holds? })
      latest = journal.unsent! || journal.unsent
      held.release
      assert_same told, told.join
      assert_equal latest, journal.unsent
      telling.start.join
      assert_nil journal.unsent
    end

    private

    def journal_of(store)
      store.instance_variable_get(:@remote).outbox.journal
    end

    def telling_of(store)
      store.instance_variable_get(:@backplane).instance_variable_get(:@telling)
    end
  end

  # With pg.
  class BackplaneThreadsOverPostgresqlTest < BackplaneCase
    include TestServers::Postgresql
    include BackplaneThreadsTests
  end
end
