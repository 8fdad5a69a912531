# frozen_string_literal: true

require "test_helper"
require "larder/remote"
require "timeout"

module Larder
  module Remote
    class HeartbeatTest < ActiveSupport::TestCase
      include Processes

      # Takes beats, or raises the errors that it is given first.
      class Store
        attr_reader :beats

        def initialize(*errors)
          @errors = errors
          @beats = Queue.new
        end

        def write_multi(entries, _kept_in)
          error = @errors.shift
          raise error if error

          @beats << entries.keys
        end
      end

      test "a lease beats again after any error, which is reported" do
        errors = [RemoteError.new("no answer"), IOError.new("of the application's executor")]
        store, reports = Store.new(*errors), Queue.new
        Heartbeat.new(store).while_running(["lease"], reports.method(:push)) do
          assert_equal(["lease"], Timeout.timeout(LONGEST) { store.beats.pop })
        end
        assert_equal errors, Array.new(reports.size) { reports.pop }
      end
    end
  end
end
