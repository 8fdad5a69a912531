# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "../../../rakelib/house/environment"
require_relative "../../../proof/soak/watch"

module Soak
  class WatchTest < ActiveSupport::TestCase
    SLOT = 3
    ROW = 5

    setup do
      @directory = Dir.mktmpdir("larder-soak")
      library = File.join(@directory, "book.so")
      source = File.join(House::ROOT, "engine/soak/book.c")
      assert system("cc", "-shared", "-fPIC", "-fvisibility=hidden", "-o", library, source)
      @book = Book.new(library, File.join(@directory, "book"))
      @base = @book.row(SLOT, ROW)
      @book[@base] = @book[@base + 1] = 100 # begun and acknowledged
      @book[@base + 2] = 110
    end

    teardown { FileUtils.rm_rf(@directory) }

    test "the value that was acknowledged last may be seen" do
      assert_equal 100, judge(100)
      assert_empty @book.wrongs
    end

    test "a value that was begun and not acknowledged may be seen" do
      @book[@base] = 200
      assert_equal 200, judge(200)
      assert_empty @book.wrongs
    end

    test "a value older than the acknowledged one may not" do
      judge(99)
      assert_match(/older than the acknowledged 100/, @book.wrongs.first)
      assert_equal 1, @book[Book::WRONG]
    end

    test "a value that nobody began may not" do
      judge(101)
      assert_match(/was not begun/, @book.wrongs.first)
    end

    test "a value acknowledged before a clear may not be seen after it" do
      @book.raise_to(Book::CLEARED, 111)
      judge(100)
      assert_match(/outlived a clear/, @book.wrongs.first)
    end

    test "a value that says it has expired may not" do
      judge(100, expires_at_ms: Watch.unix_ms - 11_000)
      assert_match(/expired 11\d\d\d ms before/, @book.wrongs.first)
    end

    test "a value of another key may not" do
      Watch.new(@book, SLOT, ROW).judge("key", Value.make(Watch.number(SLOT, ROW + 1), 100, 50))
      assert_match(/no value of this key/, @book.wrongs.first)
    end

    test "a value with one bit changed, or cut, proves nothing" do
      value = Value.make(7, 100, 500)
      assert_equal [100, 7, 0], Value.read(value).to_a
      assert_nil Value.read(value[0..-2])
      value.setbyte(300, value.getbyte(300) ^ 1)
      assert_nil Value.read(value)
    end

    test "shortly after the file was removed by hand an old value may be seen, a wrong one not" do
      @book[Book::HOSTILE] = Book.now
      judge(99)
      assert_empty @book.wrongs
      Watch.new(@book, SLOT, ROW).judge("key", "nothing of ours")
      assert_equal 1, @book.wrongs.size
    end

    test "a slot is claimed once, and free when its process is killed" do
      slots = Array.new(2) { @book.claim(Random.new(1)) }
      assert_equal 2, slots.uniq.size
      reader, writer = IO.pipe
      child = fork do
        writer.puts(@book.claim(Random.new(1)))
        writer.flush
        sleep
      end
      theirs = Integer(reader.gets)
      assert_not_includes slots, theirs
      assert_not_equal theirs, @book.claim(Random.new(1))
      Process.kill(:KILL, child)
      Process.wait(child)
      assert_equal theirs, @book.claim(Random.new(1))
    end

    private

    def judge(stamp, expires_at_ms: 0)
      value = Value.make(Watch.number(SLOT, ROW), stamp, 60, expires_at_ms)
      Watch.new(@book, SLOT, ROW).judge("key", value)
    end
  end
end
