# frozen_string_literal: true

# Starts a second process that uses the same store, and talks to it for the first process of a visit.

require "io/wait"
require "json"
require "rbconfig"
require_relative "../errors"

module Larder
  module Lab
    module Features
      # One process that obeys. It ends when this one does.
      class Peer
        SCRIPT = File.expand_path("peer_process.rb", __dir__)
        LIBRARY = File.expand_path("../../..", __dir__)
        # Seconds that an answer may take.
        PATIENCE = 60

        # Starts it, without waiting until it is ready.
        # @param job [Hash{String=>Object}] see {Opening}
        def initialize(job)
          reader, @orders = IO.pipe
          @answers, writer = IO.pipe
          @orders.sync = true
          @pid = Process.spawn(RbConfig.ruby, "-I", LIBRARY, SCRIPT, in: reader, out: writer)
          reader.close
          writer.close
          @orders.puts(JSON.generate(job))
          @pending = 1
        end

        # Gives an order without waiting for the answer.
        # @param order [Hash{Symbol=>Object}] do: and what it needs
        # @return [self]
        def tell(**order)
          @orders.puts(JSON.generate(order))
          @pending += 1
          self
        end

        # @return [Object] the answer to the last order; those before it are waited for
        # @raise [Error] if it could not obey, or is gone
        def answer
          last = nil
          while @pending.positive?
            last = receive
            @pending -= 1
          end
          raise Error, "in the second process: #{last["error"]}" if last["error"]

          last["value"]
        end

        # @return [Object] the answer
        # @raise [Error]
        def ask(**order)
          answer if @pending.positive?
          tell(**order).answer
        end

        # @return [void]
        def stop
          @orders.close
          Process.wait(@pid)
        end

        private

        def receive
          line = @answers.gets if @answers.wait_readable(PATIENCE)
          raise Error, "the second process does not answer" unless line

          JSON.parse(line)
        end
      end
    end
  end
end
