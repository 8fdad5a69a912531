# frozen_string_literal: true

require_relative "redis"

module Larder
  module Lab
    module Servers
      # Dragonfly as a cache: no snapshots, the memory limit and eviction of the others. A thread of Dragonfly wants
      # 256 MB for itself, which is what stores get, so there is one.
      class Dragonfly < Redis
        named "dragonfly", "Dragonfly", binary: "dragonfly", port: 6379,
                           remedy: "put its program there (https://www.dragonflydb.io/docs/getting-started/binary) " \
                                   "or pass --dragonfly-url"

        # @return [Array<String>]
        def arguments
          listen = port ? ["--port=#{port}"] : ["--port=0", "--unixsocket=#{socket}", "--unixsocketperm=700"]
          [*listen, "--bind=#{HOST}", "--dir=#{dir}", "--dbfilename=", "--maxmemory=#{megabytes}mb",
           "--cache_mode=true", "--proactor_threads=1", "--logtostderr"]
        end
      end
    end
  end
end
