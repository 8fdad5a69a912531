# frozen_string_literal: true

require "fcntl"

# The lock that a process holds while it opens, creates or closes a cache.
module OpenersLock
  F_OFD_SETLKW = 38
  private_constant :F_OFD_SETLKW

  # Holds the lock of the file, which must be there. Waits while another process holds it. At the end the lock is
  # released also in child processes of the block, which inherit it.
  def holding_openers_lock(path)
    skip "F_OFD_SETLKW is Linux's" unless RUBY_PLATFORM.include?("linux")
    File.open("#{path}.lock", "r+") do |lock|
      change_openers_lock(lock, Fcntl::F_WRLCK)
      yield
    ensure
      change_openers_lock(lock, Fcntl::F_UNLCK)
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
      assert thread.alive?, -> { "the call has not waited, and answered #{thread.value.inspect}" }
    end
    thread.value
  end

  private

  def change_openers_lock(file, type)
    file.fcntl(F_OFD_SETLKW, [type, IO::SEEK_SET, 0, 1, 0].pack("s!s!x4q!q!l!x4"))
  end
end
