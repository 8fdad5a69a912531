# frozen_string_literal: true

require "io/wait"
require "json"
require_relative "../probe"

module Larder
  module Lab
    module Features
      # What other processes of this machine see, and what forking does.
      class Processes < Probe
        # See {Probe}. Forking comes last: it may harm what it is done to.
        QUESTIONS = %w[cross_process node_local local_store atomic_increment fork_safe].freeze
        # Increments of each process, all at once.
        INCREMENTS = 200
        # Seconds that a child has.
        CHILDHOOD = 10

        # Does a second process see what the first wrote, and the first what the second did?
        def cross_process
          keep("shared", "from the first")
          found = peer.ask(do: "read", key: "shared")
          return [false, "a second process reads #{found.inspect}"] unless found == "from the first"

          peer.ask(do: "write", key: "back", value: "from the second")
          peer.ask(do: "delete", key: "shared")
          back = seen?("back", "from the second") && store.read("shared").nil?
          return [false, "what the second process changed is not seen in the first"] unless back

          [true, "through #{how}: written, read and deleted from both sides"]
        end

        # Is it shared without any other machine?
        def node_local
          cross_process.first ? [true, "two processes of this machine share it through #{how}"] : [false, nil]
        end

        # Inside with_local_cache, is a second read answered without asking the store?
        def local_store
          return [false, "it has no with_local_cache"] unless store.respond_to?(:with_local_cache)

          shared = shared?
          local = store.with_local_cache { shared ? local_copy? : local_value? }
          [local, "the second read in a block #{local ? "did not reach" : "reaches"} the store"]
        end

        # Are increments of several processes at once all counted?
        def atomic_increment
          store.increment("counter", 1)
          shared? ? peers.each { |peer| peer.tell(do: "increment", key: "counter", times: INCREMENTS) } : []
          INCREMENTS.times { store.increment("counter") }
          counted = shared? ? peers.each(&:answer).size + 1 : 1
          wanted = (counted * INCREMENTS) + 1
          found = store.read("counter", raw: true).to_i
          return [found == wanted, "#{found} of #{wanted} in #{counted} processes at once"] if shared?

          [false, "private to one process, where #{found} of #{wanted} were counted"]
        end

        # Can a child use the store that its parent has opened, and the parent afterwards?
        def fork_safe
          keep("before", "the fork")
          seen, wrote = in_child do
            found = store.read("before")
            [found, store.write("child", "was here") ? true : false]
          end
          return [false, "the child read #{seen.inspect}"] unless seen == "the fork"
          return [false, "the child could not write"] unless wrote
          return [false, "the parent lost its store"] unless seen?("before", "the fork")
          return [true, "child and parent read and write"] if !shared? || seen?("child", "was here")

          [false, "the parent does not see what the child wrote"]
        end

        private

        def shared?
          return @shared if defined?(@shared)

          @shared = cross_process.first
        rescue Error
          @shared = false
        end

        # Behind the store's back, another process changes the value.
        def local_copy?
          keep("local", "one")
          peer.ask(do: "write", key: "local", value: "two")
          seen?("local", "one")
        end

        # Of a store that nobody else can change, and that keeps nothing of itself.
        def local_value?
          store.write("local", "one")
          !Contenders.fetch(job["contender"]).keeps_values? && seen?("local", "one")
        end

        def how
          endpoint = job["endpoint"]
          return "files" unless endpoint

          endpoint["socket"] ? "a Unix socket" : "TCP on the loopback interface"
        end

        def in_child
          reader, writer = IO.pipe
          pid = fork do
            writer.puts(JSON.generate(yield))
            writer.close
          rescue Exception => error # rubocop:disable Lint/RescueException -- told to the parent, which raises
            writer.puts(JSON.generate("error" => "in the child: #{error.class}: #{error.message.lines.first}"))
          ensure
            exit!(0)
          end
          writer.close
          answer_of(pid, reader)
        end

        def answer_of(pid, reader)
          line = reader.gets if reader.wait_readable(CHILDHOOD)
          raise Error, "the child hangs or has died" unless line

          answer = JSON.parse(line)
          raise Error, answer["error"] if answer.is_a?(Hash)

          answer
        ensure
          begin
            Process.kill(:KILL, pid)
          rescue Errno::ESRCH
            nil
          end
          Process.wait(pid)
        end
      end
    end
  end
end
