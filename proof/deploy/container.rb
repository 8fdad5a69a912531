# frozen_string_literal: true

# A container of the proof of deploys: opens the Rails store and forks two workers, which make the calls that the driver
# sends over a socket. A line of standard input names a worker that is killed and started again. At its end all end.
#
# Usage: container.rb SOCKET CACHE NAME

require "socket"
require "active_support"
require "active_support/cache/larder_store"

ActiveSupport::Cache.format_version = 7.1

module DeployProof
  # Makes calls of the store, and sends their answers.
  class Worker
    def initialize(store, socket, failures)
      @store = store
      @socket = socket
      @failures = failures
    end

    def run
      while (line = @socket.gets)
        @failures.clear
        answer = send(*line.split)
        say(@failures.empty? ? answer : :failed)
      end
    end

    private

    def say(answer)
      @socket.puts([Marshal.dump(answer)].pack("m0"))
    end

    def read(key) = @store.read(key)
    def write(key, id) = @store.write(key, id)
    def write_tagged(key, id, tag) = @store.write(key, id, tags: tag)
    def delete(key) = @store.delete(key)
    def delete_matched(key) = @store.delete_matched(key)
    def delete_tagged(tag) = @store.delete_tagged(tag)
    def clear = @store.clear

    # Announces the computation to the driver. Deletes that begin after that must win.
    def fetch(key, id)
      @store.fetch(key, single_flight: true, wait: 0.2) do
        say(:computes)
        sleep(rand * 0.003)
        id
      end
    end
  end

  # The first process.
  class Container
    def initialize(socket, cache, name)
      @socket = socket
      @name = name
      @failures = []
      @store = ActiveSupport::Cache.lookup_store(:larder_store, cache, size: 16 << 20, error_handler: method(:failed))
      @store.read("first") # as a preloaded application may
      @workers = Array.new(2) { start }
    end

    def run
      while (line = $stdin.gets)
        number = Integer(line)
        Process.kill(:KILL, @workers[number])
        Process.wait(@workers[number])
        @workers[number] = start
      end
      @workers.each { |pid| Process.wait(pid) } # their sockets are closed, too
    end

    private

    def failed(exception:, **)
      @failures << exception
    end

    def start
      fork do
        $stdin.close
        socket = UNIXSocket.new(@socket)
        socket.puts(@name)
        Worker.new(@store, socket, @failures).run
      end
    end
  end
end

DeployProof::Container.new(*ARGV).run
