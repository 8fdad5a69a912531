# frozen_string_literal: true

module Larder
  module Lab
    module Contenders
      # The base of stores whose server may be the user's. On that one nothing is deleted: instead of emptying it, the
      # lab writes under a new namespace, and its keys expire after five minutes.
      class ServerStore < Contender
        # Seconds that an entry stays in a server of the user's, unless a call gives another time.
        LIFE = 300

        # Empties a private server.
        def clear
          return super if endpoint["private"]

          endpoint["namespace"] = nil
          @store = open_store
        end

        private

        # Overridden where the client is told more than where its server is.
        def client_options = {}

        def options
          return client_options if endpoint["private"]

          { **client_options, namespace: endpoint["namespace"] ||= fresh_namespace, expires_in: LIFE }
        end

        def fresh_namespace
          @generation = @generation.to_i + 1
          "larder-lab:#{Process.pid}:#{@generation}"
        end
      end
    end
  end
end
