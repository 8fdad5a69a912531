# frozen_string_literal: true

# One file that processes of several configurations use, as in a deploy and its rollback, over real Redis servers.

require "support/backplane_case"

module LarderStore
  # A process believes only copies of its own configuration, and a change acts on the key.
  class RemoteConfigurationsTest < BackplaneCase
    WEEK = 7 * 86_400

    test "a store that gets remote: does not answer what was in its file before" do
      before = peer_without_remote("one")
      before.call(:write, "k", "of before", expires_in: WEEK)
      before.call(:write, "deleted", "of before", expires_in: WEEK)
      write_on_server("k" => "new")
      now = machine("one", remote: remote, backplane: nil)
      2.times { assert_equal ["new", nil], [now.read("k"), now.read("deleted")] }
      assert_equal({ "k" => "new" }, now.read_multi("k", "deleted"))
    end

    test "a process without remote: makes no copies, and deletes act on the key, whichever process has stored it" do
      old = peer_without_remote("one")
      now = machine("one", remote: remote, backplane: nil)
      old.call(:write, "k", "by the old process", expires_in: WEEK)
      assert_nil now.read("k")
      old.call(:write, "k", "by the old process", expires_in: WEEK)
      now.delete("k")
      assert_nil old.call(:read, "k")

      write_on_server("k" => "new")
      assert_equal "new", now.read("k")
      assert_nil old.call(:read, "k"), "a rollback does not answer a copy"
      old.call(:delete, "k")
      write_on_server("k" => "newer")
      assert_equal "newer", now.read("k")
    end

    test "with another URL no copy of the old one is answered, nor after the rollback" do
      other = start("redis")
      one = peer("one", remote: remote, backplane: nil)
      two = peer("one", remote: remote(other), backplane: nil)
      write_on_server("k" => "of the first")
      write_on_server({ "k" => "of the second" }, other)
      2.times do
        assert_equal "of the first", one.call(:read, "k")
        assert_equal "of the second", two.call(:read, "k")
      end
      two.call(:delete, "k")
      assert_nil two.call(:read, "k")
      write_on_server("k" => "newer")
      assert_equal "newer", one.call(:read, "k"), "the delete has removed the copy of the key"
    end

    test "with a longer local_expires_in: a copy is not used by processes that have a shorter one" do
      long = machine("one", remote: remote, backplane: nil)
      short = machine("one", remote: remote, backplane: nil, local_expires_in: 5)
      write_on_server("k" => "old")
      assert_equal "old", long.read("k")
      write_on_server("k" => "new")
      assert_equal "old", long.read("k")
      assert_equal "new", short.read("k")
    end

    test "with another backplane a copy is not used by processes that do not receive the message of its end" do
      one = machine("one", remote: remote, backplane: nil)
      two = listening("one", remote: remote)
      write_on_server("k" => "old")
      assert_equal "old", one.read("k")
      write_on_server("k" => "new")
      assert_equal "new", two.read("k")
    end

    test "the same server written otherwise is the same configuration, another database is not" do
      server = start("redis-loopback")
      url = server.endpoint.fetch("url").delete_suffix("/0")
      port = url[/:(\d+)/, 1].to_i
      machine("one", remote: named(url: url), backplane: nil).write("k", "copy")
      TestServers.kill(server)
      [{ url: "#{url}/0" }, { url: url.sub("//", "//:secret@") }, { host: "127.0.0.1", port: port },
       { url: url, db: 0, timeout: 2 }].each do |options|
        assert_equal "copy", machine("one", remote: named(**options), backplane: nil).read("k"), options.to_s
      end
      [{ url: "#{url}/1" }, { url: url, db: 1 }].each do |options|
        assert_nil machine("one", remote: named(**options), backplane: nil, error_handler: nil).read("k"), options.to_s
      end
    end

    test "namespaces of a deploy share a listener, and a delete in one reaches the other" do
      olds = %w[one two].map { |name| peer(name, remote: remote, namespace: "sha1") }
      news = %w[one two].map { |name| peer(name, remote: remote, namespace: "sha2") }
      [*olds, *news].each { |each| assert(eventually { each.call(:read, "none") || each.call(:trusted?) }) }
      [olds, news].each do |one, two|
        one.call(:write, "k", 1)
        assert_equal 1, two.call(:read, "k")
        one.call(:write, "k", 2)
        assert(eventually { two.call(:read, "k") == 2 })
      end
      assert_equal 2, Dir.glob(path_of("*.larder.backplane.*")).size, "one for each machine"
      news.first.call(:delete, "k", namespace: "sha1")
      assert(eventually { olds.last.call(:read, "k").nil? })
    end

    test "servers that are not known before a connection have to be named" do
      url = @server.endpoint.fetch("url")
      block = [:redis_cache_store, { redis: -> { Redis.new(url: url) } }]
      assert_match(/RedisCacheStore\) whose servers are not known .*remote_id: "/,
                   refusal { machine("one", remote: block) })
      other = Class.new(ActiveSupport::Cache::Store) { def self.name = "Their::Store" }
      assert_match(/Their::Store.*remote_id:/, refusal { machine("one", remote: other.new) })

      write_on_server("k" => 1)
      one, two = %w[a b].map { |id| machine("one", remote: block, remote_id: id, backplane: nil) }
      assert_equal 1, one.read("k")
      write_on_server("k" => 2)
      assert_equal [1, 2], [one.read("k"), two.read("k")]
      [5, " "].each { |id| assert_match(/:remote_id/, refusal { machine("one", remote: block, remote_id: id) }) }
      assert_match(/:remote_id .* remote:/, refusal { new_store("none", remote_id: "a") })
    end

    test "stores that the application has made, and whose servers are known, need no name" do
      url = @server.endpoint.fetch("url")
      [{ url: url }, { url: url, pool: false }, { redis: Redis.new(url: url) }].each do |options|
        store = ActiveSupport::Cache::RedisCacheStore.new(**options)
        machine("one", remote: store, backplane: nil).write("k", "copy")
      end
      TestServers.kill(@server)
      assert_equal "copy", machine("one", remote: named(url: url), backplane: nil).read("k")
    end

    private

    def server_name
      "redis"
    end

    # @return [String] the message
    def refusal(&block)
      assert_raises(ArgumentError, &block).message
    end

    def remote(server = @server)
      named(url: server.endpoint.fetch("url"))
    end

    def named(**options)
      [:redis_cache_store, { reconnect_attempts: 0, coder: Larder::Coder.new, **options }]
    end

    def peer_without_remote(name)
      BackplaneCase::Peer.new { new_store("#{name}.larder") }.tap { |made| (@peers ||= []) << made }
    end

    # Not through LarderStore, so no copy is removed.
    def write_on_server(entries, server = @server)
      ActiveSupport::Cache.lookup_store(remote(server)).write_multi(entries)
    end
  end
end
