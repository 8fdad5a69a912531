# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "../../../rakelib/house/environment"
require_relative "../../../proof/soak/book"

module Soak
  class WorkerTest < ActiveSupport::TestCase
    SECONDS = 20

    teardown do
      Process.kill(:KILL, @pid) if @pid
      Process.wait(@pid) if @pid
      FileUtils.rm_rf(@directory) if @directory
    end

    slow_test "a native worker told to end while its child rests does not wait for the end of the rest" do
      start
      assert(soon { holders.any? { |pid| pid != @pid } }, "it forked no child")
      @book[Book::RESTING] = 1
      Process.kill(:TERM, @pid)
      assert(soon { Process.wait(@pid, Process::WNOHANG) }, "it waits for its child")
      @pid = nil
      assert_empty @book.wrongs
    end

    private

    def start
      @directory = Dir.mktmpdir("larder-soak")
      assert system("make", "-s", "-C", File.join(House::ROOT, "engine"), "soak", "BUILD=#{@directory}/build",
                    "OPTIMIZE=-O1")
      @book = Book.new("#{@directory}/build/soak/book.so", "#{@directory}/book")
      @pid = spawn("#{@directory}/build/soak/worker", @book.path, "#{@directory}/t.larder", (4 << 20).to_s,
                   @book.wrong_path, "1", "0")
    end

    def holders
      Array.new(Book::SLOTS) { |slot| @book[@book.slot(slot) + Book::PID] }.reject(&:zero?)
    end

    def soon
      ends = Process.clock_gettime(Process::CLOCK_MONOTONIC) + SECONDS
      until Process.clock_gettime(Process::CLOCK_MONOTONIC) > ends
        return true if yield

        sleep(0.0005)
      end
      false
    end
  end
end
