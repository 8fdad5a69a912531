# frozen_string_literal: true

# Writes lists of records to Redis and reads them, serialized by one strategy: the client's time with the serializer's.

require "set"
require_relative "row"

module Larder
  module Lab
    module Codecs
      # A serializer with a server behind it.
      class Strategy < Serializer
        # Seconds after which a key is gone, whatever happens.
        EXPIRY = 300
        # Answers of the server whose mean is its own time.
        ASKED = 20

        needs_server "redis" # another process finds the entries there
        facts[:shared?] = true

        def open
          super
          begin
            require "redis-client"
          rescue LoadError => error
            raise Unavailable, "the gem redis-client is missing: gem install redis (#{error.message})"
          end
          url = @endpoint.fetch("url")
          socket = url.delete_prefix("unix://") if url.start_with?("unix://")
          @redis = socket ? RedisClient.new(path: socket) : RedisClient.new(url: url)
          connect
          self
        end

        def connect = ask("PING")

        # Deletes what has been written.
        def clear = @names&.each { |name| ask("DEL", key(name)) }

        def write(name, bytes)
          (@names ||= Set.new) << name
          ask("SET", key(name), bytes, "EX", EXPIRY) == "OK"
        end

        def read(name) = ask("GET", key(name))

        # The sizes of a list as the server sees it: "bytes" of the value, as `redis-cli --bigkeys` tells them, "memory"
        # that it takes there, and "answering", seconds of the server for a GET.
        def sizes(name)
          bytes = ask("STRLEN", key(name))
          memory = ask("MEMORY", "USAGE", key(name))
          before = gets
          ASKED.times { read(name) }
          calls, micros = gets.zip(before).map { |after, earlier| after - earlier }
          { "bytes" => bytes, "memory" => memory, "answering" => micros / 1e6 / calls }
        end

        private

        def through(bytes)
          write("proof", bytes)
          read("proof")
        end

        # In a server of the user's several rows are at once.
        def key(name)
          "larder-lab:strategy:#{@endpoint["place"]}:#{name}"
        end

        # A server that does not answer is no fault of the strategy.
        def ask(*command)
          @redis.call(*command)
        rescue RedisClient::Error => error
          raise Unavailable, "the server does not answer: #{error.message}"
        end

        # The calls of GET since the server began, and the microseconds of all.
        def gets
          ask("INFO", "commandstats")[/cmdstat_get:(.*)/, 1].to_s.scan(/\b(?:calls|usec)=(\d+)/).flatten.map(&:to_i)
        end
      end
    end
  end
end
