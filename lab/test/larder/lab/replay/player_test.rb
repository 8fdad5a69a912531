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

        test "the floor answers every call of a recording" do
          item, other, counter = Array.new(3) do |number|
            Record::Recording::Item.new("1", "page", 5, 0.0, nil, true, number == 2, nil, "page/#{number}", "value")
          end
          calls = [[:set, [item, other]], [:exist, [item]], [:get, [item, other]], [:delete, [item]],
                   [:delete, [item, other]], [:increment, [counter]], [:get, [counter]]]
          recording = Struct.new(:requests, :items).new([Record::Recording::Request.new(0.0, 0.0, calls)], [item])
          assert Player.new(Contenders::FloorStore::Store.new, recording).play(0)
        end
      end
    end
  end
end
