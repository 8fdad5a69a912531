# frozen_string_literal: true

# Stops a private server and starts it again in its directory, with what it left there.

require_relative "../clock"
require_relative "../errors"

module Larder
  module Lab
    module Features
      # Restarts of a {Server}.
      module Restarts
        # Seconds that a server has for ending by itself.
        PATIENCE = 15

        extend Clock

        module_function

        # Asked to end, as an administrator would.
        # @param server [Server]
        # @return [void]
        # @raise [Unavailable] if it does not end or start
        def gently(server)
          restart(server, :TERM)
        end

        # Without a warning.
        # @param server [Server]
        # @return [void]
        # @raise [Unavailable] if it does not end or start
        def by_killing(server)
          restart(server, :KILL)
        end

        def restart(server, signal)
          pid = server.pid
          Process.kill(signal, pid)
          limit = now + PATIENCE
          sleep 0.01 while running?(pid) && now < limit
          raise Unavailable, "the server does not end within #{PATIENCE} s of SIG#{signal}" if running?(pid)

          server.stop
          server.start
        end

        def running?(pid)
          Process.kill(0, pid)
          true
        rescue Errno::ESRCH
          false
        end

        private_class_method :restart, :running?
      end
    end
  end
end
