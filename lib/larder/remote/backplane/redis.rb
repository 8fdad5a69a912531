# frozen_string_literal: true

# Messages by publish and subscribe of Redis or Valkey, with redis-client, which the gem redis has, too.

require "larder/remote/addresses"
require "larder/remote/backplane/server"

module Larder
  module Remote
    class Backplane
      # @api private
      class Redis < Server
        TIMEOUTS = %i[connect_timeout read_timeout write_timeout].freeze
        private_constant :TIMEOUTS

        # @param places [Array<Hash>] what RedisClient.config or RedisClient.sentinel takes, of one server, or of nodes
        #   of one cluster, which pass messages on to each other
        # @raise [ArgumentError]
        def initialize(places)
          super()
          # A Sentinel's remembers the server that it has found, and forgets it after an error.
          @publishing, @listening = Array.new(2) { places.map { |place| configuration(place) } }
          @place = place_of_all(@publishing)
        end

        # Yields :begun; :message and a message; and :answered and when a question was sent ({Deadline.moment}), after
        # all that was in the stream before its answer. If that fails, the next call listens to the next node.
        #
        # @param channel [String]
        def listen(channel, &block)
          forget_parents
          @subscriber = connected(Deadline.in(DEADLINE)) { greeted(@listening.first) }.pubsub
          @subscriber.call("SUBSCRIBE", channel)
          attend(@subscriber, Pulse.new, &block)
        rescue *errors
          @listening.rotate!
          raise
        ensure
          @subscriber&.close
          @subscriber = nil
        end

        private

        def client_errors
          [RedisClient::Error]
        end

        def servers
          @publishing.size
        end

        def next_server
          @publishing.rotate!
        end

        def connect
          greeted(@publishing.first)
        end

        # A client connects when it is used.
        def greeted(config)
          config.new_client.tap { |client| client.call("PING") }
        end

        def deliver(client, channel, message, deadline)
          raise Unreachable, "no time is left" if deadline.over?

          client.timeout = [client.config.read_timeout, deadline.left].min
          client.call("PUBLISH", channel, message)
        end

        def close(client)
          client.close
        end
        alias disown close

        # Protocol 3 answers PING by its text, protocol 2 by an Array that ends with it.
        def attend(events, pulse)
          loop do
            events.call("PING", pulse.ask) if pulse.due?
            event = events.next_event(pulse.wait)
            next pulse.silent unless event

            pulse.heard
            case event
            in ["subscribe", *] then yield :begun
            in ["message", _, message] then yield :message, message
            in RedisClient::Error then raise event
            else yield :answered, moment_of(pulse, event)
            end
          end
        end

        def moment_of(pulse, event)
          return pulse.answered if pulse.answer?(event.is_a?(Array) ? event.last : event)

          raise RedisClient::ProtocolError, "#{event.class} is not an event of a subscription"
        end

        # A message reaches all databases of a server.
        def place_of(config)
          return "#{config.name} of #{place_of_all(config.sentinels)}" if config.sentinel?

          config.path ? "unix:#{config.path}" : "redis:#{config.host.downcase}:#{config.port}"
        end

        def place_of_all(configs)
          configs.map { |config| place_of(config) }.sort.join(",")
        end

        # Attempts are counted here.
        def configuration(place)
          options = { timeout: DEADLINE / 2.0, **place, reconnect_attempts: 0 }
          waits = TIMEOUTS.to_h { |name| [name, options.fetch(name, options[:timeout])] }
          options = options.except(:timeout).merge(waits.to_h { |name, seconds| [name, bounded(name, seconds)] })
          return checked(RedisClient.config(**options)) unless options.key?(:sentinels)

          RedisClient.sentinel(**options).tap { |config| config.sentinels.each { |sentinel| checked(sentinel) } }
        end

        def checked(config)
          wrong = Addresses.wrong_port(config.port) unless config.path
          wrong ? raise(::ArgumentError, wrong) : config
        end

        def bounded(name, seconds)
          return [seconds.to_f, DEADLINE].min if seconds.is_a?(Numeric) && seconds.positive?

          raise ::ArgumentError, "#{name} is #{seconds.inspect}; it takes seconds, more than 0"
        end
      end
    end
  end
end
