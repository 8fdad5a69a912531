# frozen_string_literal: true

# The second process of a visit: opens the same store, and does what it is told, a line of JSON each, until its
# standard input closes. Started by {Larder::Lab::Features::Peer}; never loaded by the command itself.

require "json"
require_relative "opening"

module Larder
  module Lab
    module Features
      # Obeys.
      class PeerProcess
        # @return [void]
        def self.main
          output = $stdout.dup
          output.sync = true
          $stdout.reopen($stderr)
          new(JSON.parse($stdin.gets), output).run
        end

        # @param job [Hash{String=>Object}] see {Opening}
        # @param output [IO]
        def initialize(job, output)
          @job = job
          @output = output
        end

        # @return [void]
        def run
          say do
            @store = Opening.open(@job).store
            "ready"
          end
          while (line = $stdin.gets)
            say { obey(JSON.parse(line)) }
          end
        end

        private

        def say
          @output.puts(JSON.generate("value" => yield))
        rescue StandardError, LoadError, NotImplementedError => error
          @output.puts(JSON.generate("error" => "#{error.class}: #{error.message.lines.first.to_s.strip}"))
        end

        def obey(order)
          key = order["key"]
          case order["do"]
          when "read" then store.read(key)
          when "write" then store.write(key, order["value"]) ? true : false
          when "delete" then store.delete(key) ? true : false
          when "increment" then order["times"].times { store.increment(key) }
          end
        end

        def store
          @store ||= raise("its store is not open")
        end
      end
    end
  end
end

Larder::Lab::Features::PeerProcess.main if $PROGRAM_NAME == __FILE__
