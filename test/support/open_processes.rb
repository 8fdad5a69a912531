# frozen_string_literal: true

require "larder"

# Processes that have a cache open, for tests of its room for them.
module OpenProcesses
  # Yields while this number of processes besides this one have the cache open.
  #
  # @param count [Integer]
  # @param file [String] the cache's path
  def with_processes(count, file)
    opened, opens = IO.pipe
    gate, release = IO.pipe
    pids = Array.new(count) do
      fork do
        release.close
        Larder::Cache.open(file).get("k")
        opens.write(".")
        gate.read
        exit!
      end
    end
    assert_equal count, Array.new(count) { opened.read(1) }.size
    yield
  ensure
    [release, opened, opens, gate].each(&:close)
    pids.each { |pid| Process.wait(pid) }
  end
end
