# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "json"
require "support/command"

module Larder
  module CLI
    # `larder keys` in processes of its own, on a file that this one has open.
    class KeysTest < ActiveSupport::TestCase
      include TemporaryCaches
      include Processes
      include Command

      def file
        path_of("test.larder")
      end

      def keys(*arguments, **settings)
        done("keys", "--file", file, *arguments, **settings)
      end

      def names(*arguments)
        keys("--names", *arguments).lines(chomp: true).sort
      end

      test "keys are listed with size and TTL" do
        cache.set("forever", "x" * 2048)
        cache.set("größe\n", "abc", ttl: 7300.5)
        head, *lines = keys.lines(chomp: true)
        assert_equal "      SIZE      TTL  KEY", head
        assert_equal ["   2.0 KiB        -  forever", "   3 bytes     2h1m  größe\\x0A"], lines.sort
      end

      test "names are the bytes of keys in every locale, as larder delete takes them" do
        cache.set_multi({ "größe" => "v", "gr??e" => "v" })
        text = keys("--names", "gr", "--sort", "size", env: { "LC_ALL" => "C" }).b
        assert_equal ["gr??e".b, "größe".b], text.lines(chomp: true).sort
        assert_match(/2 of 2 keys/, done("delete", "-", "--file", file, stdin: text, env: { "LC_ALL" => "C" }))
      end

      test "machines get a line for each key" do
        cache.set("a", "1", tags: ["t"])
        cache.set("b\0", "22", ttl: 100, pin: true)
        a, b = keys("--json").lines.map { |line| JSON.parse(line) }.sort_by { |item| item["key"] }
        assert_operator a.delete("age_at_most"), :<, 3600
        assert_equal({ "key" => "a", "size" => 1, "ttl" => nil, "stale" => false, "reads" => 0, "tags" => 1,
                       "pinned" => false }, a)
        assert_equal ["b\\x00", 2, true], b.values_at("key", "size", "pinned")
        assert_in_delta 100, b["ttl"], 60
      end

      test "a pattern is a glob, or the beginning of keys" do
        cache.set_multi(%w[views/1/en views/12/en views/1/de other a*b ab].to_h { |key| [key, "v"] })
        cache.set("größe", "v")
        assert_equal %w[views/1/de views/1/en views/12/en], names("views/")
        assert_equal %w[views/1/en views/12/en], names("views/*/en")
        assert_equal %w[views/1/de views/1/en], names("views/?/*")
        assert_equal %w[größe], names("gr??e")
        assert_equal %w[a*b ab], names("a*b")
        assert_equal %w[a*b], names("a\\x2Ab")
        assert_equal %w[a*b], names("--prefix", "a*")
        assert_equal 7, names("*").size
        assert_equal [], names("nothing*here")
        assert_equal [], names("views/*en/en")
      end

      test "a glob takes no long time" do
        cache.set("a" * 4000, "v")
        assert_equal [], names("#{"*a" * 30}*b")
      end

      test "sorted, the first keys of the whole cache are listed" do
        cache.set_multi((1..300).to_h { |i| ["k#{i}", "v" * i] })
        cache.set("soon", "v", ttl: 100)
        cache.set("later", "v", ttl: 10_000)
        assert_equal %w[k300 k299 k298], keys("--sort", "size", "--limit", "3", "--names").lines(chomp: true)
        assert_equal 20, keys("--sort", "size", "--names").lines.size
        assert_equal %w[soon later], keys("--sort", "ttl", "--limit=2", "--names").lines(chomp: true)
        assert_equal %w[k99 k98], keys("k9?", "--sort", "size", "--limit=2", "--names").lines(chomp: true)
        assert_match(/ SIZE +TTL +AGE +KEY\n.*1 byte.* <= \d+[sm] +k1$/, keys("--sort", "age", "--limit=2"))
      end

      test "reads are as the cache counts them" do
        cache.set("read", "v")
        20_000.times { |i| cache.set("filler #{i}", "x" * 100) } # reads of new items do not count
        3.times { cache.get("read") }
        assert_match(/ READS +KEY\n.* often +read\n/, keys("read", "--sort", "reads"))
        reads = keys("filler", "--json").lines.map { |line| JSON.parse(line)["reads"] }
        assert_operator reads.count(0), :>, reads.size / 2
      end

      test "a stale item is shown as such" do
        cache
        store = ActiveSupport::Cache.lookup_store(:larder_store, file)
        store.write("old", "v", expires_in: 0.05, stale_if_error: 600)
        sleep 0.01 while cache.exist?("old")
        assert_match(/ stale +old$/, keys)
        assert_equal [true, 0], JSON.parse(keys("--json")).values_at("stale", "ttl")
      end

      test "it ends quietly when its reader has left" do
        cache.set_multi((0...20_000).to_h { |i| ["key #{i}", "v"] })
        out, err, status = Open3.capture3(PLAIN, "bash", "-o", "pipefail", "-c",
                                          "#{RbConfig.ruby} #{PROGRAM} keys --file #{file} | head -n 2")
        assert_equal [2, "", 0], [out.lines.size, err, status.exitstatus]
      end

      test "a writer goes on while keys are listed, and what stays is listed" do
        cache.set_multi((0...5000).to_h { |i| ["stays/#{i}", "v"] })
        writer = fork do
          number = 0
          loop { cache.set("comes/#{(number += 1) % 20_000}", "v" * (number % 50)) }
        end
        listed = Array.new(3) { names("stays/").uniq.size }
        before = cache.stats[:sets]
        sleep 0.01 until cache.stats[:sets] > before
        assert_equal [5000] * 3, listed
        assert_equal 0, cache.stats[:lock_waits]
      ensure
        Process.kill(:KILL, writer)
        Process.wait(writer)
      end

      test "wrong usage is explained" do
        cache
        { ["--sort", "name"] => /cannot sort by name; known: size, ttl, age, reads/,
          ["--limit", "0"] => /--limit 0: a number of keys from 1 on/,
          ["--limit", "200000", "--sort", "size"] => /--limit 200000: a sorted list has 100,000 keys at most/,
          ["a", "b"] => /unexpected argument b; quote a pattern/, ["a", "--prefix", "b"] => /give one of them/,
          ["--names", "--json"] => /give one of them/ }.each do |words, message|
          assert_equal 2, refused(message, "keys", "--file", file, *words)
        end
        assert_equal 1, refused(/no file nowhere.* with --file/, "keys", "--file", "nowhere")
      end
    end
  end
end
