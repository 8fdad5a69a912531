# frozen_string_literal: true

require "fcntl"

# The lock that a process holds while it opens, creates or closes a cache.
module OpenersLock
  F_OFD_SETLK = 37
  private_constant :F_OFD_SETLK

  # Holds the lock of the file, which must be there.
  def holding_openers_lock(path)
    skip "F_OFD_SETLK is Linux's" unless RUBY_PLATFORM.include?("linux")
    File.open("#{path}.lock", "r+") do |lock|
      lock.fcntl(F_OFD_SETLK, [Fcntl::F_WRLCK, IO::SEEK_SET, 0, 1, 0].pack("s!s!x4q!q!l!x4"))
      yield
    end
  end

  # Runs the block in a thread, and gives the lock back when the block waits.
  #
  # @return [Object] the block's value
  def while_opened_by_another(path, &block)
    thread = nil
    holding_openers_lock(path) do
      thread = Thread.new(&block)
      sleep 0.2 # far longer than it takes to open a file
      Thread.pass until thread.stop?
      assert_predicate thread, :alive?, "the call has not waited"
    end
    thread.value
  end
end
