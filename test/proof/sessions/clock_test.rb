# frozen_string_literal: true

require "test_helper"
require_relative "../../../proof/sessions/clock"

module Proof
  # The clock of the proof over `cache:`.
  class SessionClockTest < ActiveSupport::TestCase
    setup do
      @world = 1_000.6
      @operations = 0
      @clock = SessionProof::Clock.new(-> { @world }) { @operations }
    end

    test "after fast operations it is not slower than the world's" do
      @operations = 2000
      @world += 10
      before = @clock.now
      @operations += 10
      @world += 51
      assert_operator @clock.now - before, :>=, 51
    end

    test "operations move it forward while the world's time hardly goes on" do
      before = @clock.now
      @operations = 2000
      assert_operator @clock.now - before, :>=, 100
    end

    test "it starts with the world's time" do
      assert_in_delta Time.now.to_i, SessionProof::Clock.new { 0 }.now, 2
    end
  end
end
