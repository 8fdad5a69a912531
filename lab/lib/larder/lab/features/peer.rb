# frozen_string_literal: true

require "io/wait"
require_relative "../errors"

module Larder
  module Lab
    module Features
      # Another process that uses a store, and obeys this one. It ends when this one does.
      class Peer
        # Seconds that an answer may take.
        PATIENCE = 60

        # @yieldreturn [ActiveSupport::Cache::Store] opened by the other process at its first order
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
        end

        # @param order [Array<Object>] a method of the store and its arguments; of :increment, a key and how often
        # @return [void] at once; {#answer} waits
        def tell(*order)
          Marshal.dump(order, @orders)
          @orders.flush
        end

        # @return [Object] the answer to the order
        # @raise [Error] if it could not obey, hangs or is gone
        def answer
          raise Error, "the other process does not answer" unless @answers.wait_readable(PATIENCE)

          value, error = Marshal.load(@answers)
          error ? raise(Error, "in the other process: #{error}") : value
        rescue EOFError
          raise Error, "the other process has died"
        end

        # @return [Object] the answer
        def ask(*order)
          tell(*order)
          answer
        end

        # @return [void]
        def stop
          Process.kill(:KILL, @pid)
          Process.wait(@pid)
        end

        private

        def obey(orders, answers, store)
          loop do
            name, key, *rest = Marshal.load(orders)
            opened ||= store.call
            value = name == :increment ? rest[0].times { opened.increment(key) } : opened.public_send(name, key, *rest)
            Marshal.dump([value.nil? || value.is_a?(String) ? value : value != false], answers)
          rescue EOFError
            break
          rescue StandardError, LoadError, NotImplementedError => error
            Marshal.dump([nil, "#{error.class}: #{error.message.lines.first.to_s.strip}"], answers)
          end
        end
      end
    end
  end
end
