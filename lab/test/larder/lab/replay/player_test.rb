# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Replay
      class PlayerTest < ActiveSupport::TestCase
        test "requests that are due while a store stalls have waited since they were due" do
          store = ActiveSupport::Cache::MemoryStore.new
          stall = 0.1
          store.define_singleton_method(:read) do |name, **options|
            sleep(stall).then { stall = 0 } if stall.positive?
            super(name, **options)
          end
          entry = Script::Entry.new("key", "value", nil, 0.0, true)
          requests = Array.new(20) { |number| Script::Request.new(number * 0.005, [[:get, [entry], ["key"]]]) }
          player = Player.new(store, Struct.new(:requests, :entries).new(requests, [entry]))
          found = player.play_on_time(speed: 1.0, window: 1.0)
          assert_equal 20, found["calls"]
          assert_operator found["seconds"], :>, 0.04
        end
      end
    end
  end
end
