# frozen_string_literal: true

# Starts another process that uses a store, and gives it orders.

require "io/wait"
require_relative "../errors"

module Larder
  module Lab
    module Features
      # A child that calls a store. It ends when its parent does.
      class Peer
        # Seconds that an answer may take.
        PATIENCE = 60

        # Forks. The child opens its store at its first order.
        # @yieldreturn [ActiveSupport::Cache::Store]
        def initialize(&store)
          orders, @orders = IO.pipe(binmode: true)
          @answers, answers = IO.pipe(binmode: true)
          @pid = fork do
            [@orders, @answers].each(&:close)
            obey(orders, answers, store)
          ensure
            exit!(0)
          end
          [orders, answers].each(&:close)
          @pending = 0
        end

        # Gives an order without waiting for its answer.
        # @param order [Array<Object>] a method of the store and its arguments; of :increment, a key and how often
        # @return [self]
        def tell(*order)
          Marshal.dump(order, @orders)
          @orders.flush
          @pending += 1
          self
        end

        # @return [Object] the answer to the last order
        # @raise [Error] if it could not obey, hangs or is gone
        def answer
          value = error = nil
          while @pending.positive?
            raise Error, "the other process does not answer" unless @answers.wait_readable(PATIENCE)

            value, error = Marshal.load(@answers)
            @pending -= 1
          end
          error ? raise(Error, "in the other process: #{error}") : value
        rescue EOFError
          raise Error, "the other process has died"
        end

        # @param order [Array<Object>]
        # @return [Object] the answer
        # @raise [Error]
        def ask(*order)
          tell(*order).answer
        end

        # @return [void]
        def stop
          [@orders, @answers].each(&:close)
          Process.kill(:KILL, @pid)
          Process.wait(@pid)
        end

        private

        def obey(orders, answers, store)
          loop do
            order = Marshal.load(orders)
            opened ||= store.call
            Marshal.dump([call(opened, *order), nil], answers)
          rescue EOFError
            break
          rescue StandardError, LoadError, NotImplementedError => error
            Marshal.dump([nil, "#{error.class}: #{error.message.lines.first.to_s.strip}"], answers)
          end
        end

        def call(store, name, key, *rest)
          return rest.first.times { store.increment(key) } if name == :increment

          value = store.public_send(name, key, *rest)
          value.nil? || value.is_a?(String) ? value : value != false
        end
      end
    end
  end
end
