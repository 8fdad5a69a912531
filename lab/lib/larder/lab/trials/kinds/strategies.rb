# frozen_string_literal: true

module Larder
  module Lab
    module Kinds
      # A list of records into Redis and back, as the published comparison did it: the client's time with the
      # serializer's.
      class Strategies < Kind
        Kinds.register("strategies", self)

        KEY = "larder-lab:strategy"
        # Seconds after which the key is gone, whatever happens.
        EXPIRY = 600
        # Answers of the server that its own time is the mean of.
        ASKED = 20

        # @param payload [Payloads::Payload]
        # @return [void]
        def run(payload)
          connect
          value = @worker.made { payload.value }
          way = TrialCodecs.serializer(@job["codec"], options, value)
          forth = lambda do |given|
            ask("SET", KEY, way.there.call(given), "EX", EXPIRY)
            KEY
          end
          @worker.try("write", "read", value, forth, ->(key) { way.back.call(ask("GET", key)) },
                      &judge(payload, way))
          tell_size(value, way)
          ask("DEL", KEY)
        end

        private

        # A server that does not answer is no fault of the strategy.
        def ask(*command)
          @redis.call(*command)
        rescue RedisClient::Error => error
          raise Unavailable, "the server does not answer: #{error.message}"
        end

        def connect
          require "redis-client"
          url = @job["endpoint"]["url"]
          socket = url.delete_prefix("unix://") if url.start_with?("unix://")
          @redis = socket ? RedisClient.new(path: socket) : RedisClient.new(url: url)
        rescue LoadError => error
          raise Unavailable, "the gem redis-client is missing: gem install redis (#{error.message})"
        end

        # As the server sees it: the value's length, what it takes there, and its own time to answer.
        def tell_size(value, way)
          bytes = ask("STRLEN", KEY)
          memory = ask("MEMORY", "USAGE", KEY)
          before = gets
          ASKED.times { ask("GET", KEY) }
          calls, micros = gets.zip(before).map { |after, earlier| after - earlier }
          @worker.emit("size", bytes: bytes, raw: marshalled(value), keeps: way.keeps)
          @worker.emit("server", memory: memory, get_seconds: micros / 1e6 / calls)
        end

        # @return [Array(Integer, Integer)] how many there were since the server began, and the microseconds of all
        def gets
          ask("INFO", "commandstats")[/cmdstat_get:(.*)/, 1].to_s.scan(/\b(?:calls|usec)=(\d+)/).flatten.map(&:to_i)
        end
      end
    end
  end
end
