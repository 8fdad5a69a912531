# frozen_string_literal: true

# Counts what calls cost on the way to a Redis server.

require "redis_client"

# Each command, or pipeline of commands, is one trip: a caller sends it and waits for the answer. Messages to other
# machines are counted for themselves.
module Trips
  # Commands of the one thread that counts.
  module Middleware
    def call(command, config)
      Trips.sent([command])
      super
    end

    def call_pipelined(commands, config)
      Trips.sent(commands)
      super
    end
  end
  RedisClient.register(Middleware)

  module_function

  # @yield calls that this thread makes
  # @return [Array(Integer, Integer)] trips and messages
  def count
    @log = []
    @thread = Thread.current
    yield
    messages, trips = @log.partition { |names| names == ["PUBLISH"] }
    [trips.size, messages.size]
  ensure
    @thread = nil
  end

  # @return [Array<Array<String>>] names of the commands of each trip of the last count
  def log
    @log
  end

  # @api private
  def sent(commands)
    @log << commands.map { |name, *| name.to_s.upcase } if @thread == Thread.current
  end
end
