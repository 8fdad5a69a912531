# frozen_string_literal: true

require "test_helper"
require "larder/remote/connections"

module Larder
  module Remote
    class ConnectionsTest < ActiveSupport::TestCase
      setup do
        @closed = Queue.new
        @closing = Queue.new
        @connections = Connections.new(:client, shared: true, errors: [IOError], close: lambda do |client|
          @closing << client
          sleep 0.01
          @closed << client
        end)
      end

      test "a call that answers, or whose client raises, leaves the connection open" do
        assert_equal :client, @connections.with { |client| client }
        assert_raises(IOError) { @connections.with { raise IOError } }
        assert_empty @closed
      end

      test "a call that is left otherwise has its connection closed" do
        catch(:out) { @connections.with { throw :out } }
        assert_raises(ArgumentError) { @connections.with { raise ArgumentError } }
        assert_equal 2, @closed.size
      end

      test "a call of a thread that is killed ends at once, and has its connection closed" do
        in_a_call(&:kill)
        assert_equal 1, @closed.size
      end

      test "neither an exception nor a kill of another thread comes before the connection is closed" do
        %i[raise kill].each do |interrupt|
          in_a_call do |thread|
            thread.raise(RuntimeError)
            @closing.pop
            thread.public_send(interrupt)
          end
          assert_equal 1, @closed.size, interrupt
          @closed.clear
        end
      end

      private

      # Yields a thread that waits for the answer of a call, and waits for its end.
      def in_a_call
        called = Queue.new
        thread = Thread.new do
          Thread.current.report_on_exception = false
          @connections.with { called << true && sleep }
        end
        called.pop
        yield thread
        thread.join
      rescue RuntimeError
        nil
      end
    end
  end
end
