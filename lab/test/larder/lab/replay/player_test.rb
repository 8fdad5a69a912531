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
          item = Record::Recording::Item.new("1", "page", 5, 0.0, nil, true, nil, nil, "page/1", "value")
          requests = Array.new(20) { |at| Record::Recording::Request.new(at * 0.005, 0.0, [[:get, [item]]]) }
          player = Player.new(store, Struct.new(:requests, :items).new(requests, [item]))
          found = player.play_on_time(speed: 1.0, window: 1.0)
          assert_equal 20, found["calls"]
          assert_operator found["seconds"], :>, 0.04
        end
      end
    end
  end
end
