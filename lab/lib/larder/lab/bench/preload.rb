# frozen_string_literal: true

require "json"
require "socket"
require_relative "serve"

module Larder
  module Lab
    module Bench
      # The process from which the workers of one session and one Gemfile are forked: loads what they have in common,
      # opens no store and no connection, and forks a worker whenever three streams arrive on standard input, a socket.
      # Ends when its input does. Started by {Preloader}.
      class Preload
        # Collections of garbage after which Ruby counts an object as old. Workers share old objects' memory longest.
        COLLECTIONS = 4

        def self.main(suite, contender)
          suite = Suites.fetch(suite)
          type = suite.registry.names.include?(contender) ? suite.registry.fetch(contender) : Contender
          type.preload(suite)
          COLLECTIONS.times { GC.start }
          new(UNIXSocket.for_fd($stdin.fileno)).serve
        end

        def initialize(socket)
          @socket = socket
          @socket.autoclose = false # in a worker this is its standard input
          @fates = []
        end

        def serve
          while @socket.wait_readable && (requests = received)
            answers = received
            fate = received
            @fates << fate
            pid = fork { become(requests, answers) }
            [requests, answers].each(&:close)
            watch(pid, fate)
          end
        end

        private

        # The next stream; nil if the other side has ended.
        def received
          @socket.recv_io
        rescue SocketError
          nil
        end

        # In the worker.
        def become(requests, answers)
          Process.setpgid(0, 0)
          @fates.each { |fate| fate.close unless fate.closed? }
          $stdin.reopen(requests)
          $stdout.reopen(answers)
          [requests, answers].each(&:close)
          Service.main
        end

        # Writes the worker's pid, and at its end the number of the signal that ended it (0: none).
        def watch(pid, fate)
          fate.sync = true
          fate.puts(pid)
          Thread.new do
            fate.puts(Process.wait2(pid).last.termsig.to_i)
          rescue Errno::EPIPE
            nil # its side has stopped waiting
          ensure
            fate.close
          end
        end
      end
    end
  end
end

Larder::Lab::Bench::Preload.main(*ARGV) if $PROGRAM_NAME == __FILE__
