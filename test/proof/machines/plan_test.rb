# frozen_string_literal: true

require "test_helper"
require_relative "../../../proof/machines/chaos"
require_relative "../../../proof/machines/plan"

module Proof
  # A seed decides what happens in a round.
  class MachinesPlanTest < ActiveSupport::TestCase
    include MachineProof

    QUICK = 28
    FULL = 600

    test "a seed gives the same plan again, and another seed another one" do
      assert_equal steps(1), steps(1)
      assert_not_equal steps(1), steps(2)
    end

    test "a quick run has every kind of fault, and deploys that change namespace: and remove and add remote:" do
      steps = steps(1)
      assert_empty Chaos.public_instance_methods(false) - %i[counts heal play] - steps.map { |step| step[1] }
      assert_equal %w[namespace without-remote], configured(steps) & %w[namespace without-remote]
    end

    test "each deploy of a long run is rolled back, and both configurations run on a machine at the same time" do
      assert_equal Setting::DEPLOYED.sort, (configured(steps(1, FULL)) - [Setting::USUAL]).sort
      running = Hash.new { |all, machine| all[machine] = Setting::ROLES.to_h { |role| [role, Setting::USUAL] } }
      mixed = steps(1, FULL).count do |_, name, machine, role, configuration|
        next unless name == :configure

        running[machine][role] = configuration
        running[machine].values.uniq.size == 2
      end
      assert_operator mixed, :>, 10
    end

    test "links, servers and processes are in order again soon" do
      open = Hash.new(0)
      ends = { clear: :obstruct, continue_server: :stop_server, continue_process: :stop_process }
      steps(1, FULL).each do |at, name, what|
        open[[name, what]] = at if ends.value?(name)
        assert_operator at - open[[ends[name], what]], :<=, Plan::LASTS.end + 0.01 if ends.key?(name)
      end
    end

    private

    def steps(seed, seconds = QUICK)
      Plan.new(Random.new(seed), seconds).steps
    end

    def configured(steps)
      steps.select { |step| step[1] == :configure }.map(&:last).uniq
    end
  end
end
