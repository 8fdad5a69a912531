# frozen_string_literal: true

module Larder
  module Lab
    module Suites
      module Features
        # Asks what outlives processes and servers, and what several processes do at once. Its methods answer
        # the questions of {BLOCKS}, see {Asking}.
        class Lasting < Asking
          # Seconds that a server may take to end.
          ENDING = 15
          # Processes that increment at once, and increments of each.
          PROCESSES = 3
          INCREMENTS = 100

          private

          def app_restart
            elsewhere(apart) { |writer| writer.write("mark", "1", **LIFE) }
            [marked?(apart, "1"), "in the next process, after the first had ended"]
          end

          def app_killed
            Bench::Callers.run(1) do
              apart.open.store.write("mark", "2", **LIFE)
              Process.kill(:KILL, Process.pid)
            end
            [marked?(apart, "2"), "in the next process after kill -9"]
          end

          # A store that outlives a kill outlives a restart, too.
          def server_restart
            ends { |killed, stopped| killed ? [true, "even after kill -9"] : [stopped, "after its stop and start"] }
          end

          def server_killed = ends { |killed, _| [killed, "after kill -9 of the server"] }

          def atomic_increment
            store.increment("counter", 1, **LIFE)
            processes = shared? ? PROCESSES : 1
            other = nil
            open = -> { (other = another.open.store).exist?("counter") }
            Bench::Callers.all(processes, ready: open) { INCREMENTS.times { other.increment("counter", 1, **LIFE) } }
            return [false, "private to one process"] unless shared?

            wanted = (processes * INCREMENTS) + 1
            found = store.read("counter", raw: true).to_i
            [found == wanted, "#{found} of #{wanted} in #{processes} processes at once"]
          end

          # Comes last: it may harm the store.
          def fork_safe
            keep("before", "the fork")
            write = -> { store.write("child", "was here", **LIFE) }
            read, written = Bench::Callers.all(1) { [store.read("before"), write.call] }.first
            return [false, "the child read #{read.inspect}"] unless read == "the fork"
            return [false, "the child could not write"] unless written

            there = seen?("before", "the fork") && (!shared? || seen?("child", "was here"))
            [there, there ? "child and parent read and write" : "the parent lost its store, or the child's value"]
          end

          # A store that only other processes open, one after the other.
          def apart = @apart ||= row.another("apart")

          def marked?(row, mark) = elsewhere(row) { |reader| reader.read("mark") } == mark

          # Yields whether a value outlives kill -9 of the server, and whether it outlives a stop.
          def ends
            return ["no server", nil] unless row.endpoint
            return NOT_OURS if theirs?

            @ends ||= hosted("ended") do |own, server|
              killed = outlives?(own, server, :KILL)
              [killed, killed || outlives?(own, server, :TERM)]
            end
            yield(*@ends)
          end

          # The value is read from another directory, so no file of the store answers in place of its server.
          def outlives?(own, server, signal)
            elsewhere(own) { |writer| writer.write("mark", signal.to_s, **LIFE) }
            restart(server, signal)
            marked?(own.another("after-#{signal}", endpoint: own.endpoint.merge(server.endpoint)), signal.to_s)
          end

          def restart(server, signal)
            process = "/proc/#{server.pid}"
            Process.kill(signal, server.pid)
            limit = now + ENDING
            sleep 0.01 while now < limit && File.exist?(process)
            raise Unavailable, "the server does not end within #{ENDING} s of SIG#{signal}" if File.exist?(process)

            server.stop
            server.start
          end
        end
      end
    end
  end
end
