# frozen_string_literal: true

require "test_helper"
require "active_support/cache/larder_store"
require "support/reported_errors"

class LarderStoreFailsafeTest < ActiveSupport::TestCase
  include ReportedErrors

  Failsafe = Larder::Store::Failsafe

  def failsafe(raises: false, &handler)
    @seen = []
    Failsafe.new(handler || ->(**error) { @seen << error.values_at(:method, :returning) }, raises)
  end

  test "a failure of the cache is reported, and answered with what the caller says" do
    assert_equal(5, failsafe.guard(:read_entry, returning: 5) { raise Larder::Error })
    assert_equal [[:read_entry, 5]], @seen
    assert_equal(:value, failsafe.guard(:read_entry) { :value })
  end

  test "each failure is counted, also one that is raised, and nothing else is" do
    counted = 0
    [false, true].each do |raises|
      failsafe = Failsafe.new(->(**) {}, raises) { counted += 1 }
      failsafe.guard(:read_entry) { :value }
      failsafe.ask(:read_entry) { raise Larder::Remote::Waiting }
      begin
        failsafe.guard(:read_entry) { raise Larder::Error }
      rescue Larder::Error
        assert raises
      end
    end
    assert_equal 2, counted
  end

  test "an error of the caller passes" do
    assert_raises(IOError) { failsafe.guard(:read_entry) { raise IOError } }
    error = Larder::UnserializableError
    assert_raises(error) { failsafe.guard_write(:write_entry) { raise error } }
    assert_empty @seen
  end

  test "raise_errors, or a handler that raises the error, lets it pass" do
    assert_raises(Larder::Error) { failsafe(raises: true).guard(:read_entry) { raise Larder::Error } }
    raising = failsafe { |exception:, **| raise exception }
    assert_raises(Larder::Error) { raising.guard(:read_entry) { raise Larder::Error } }
  end

  test "a handler that raises an error of its own does not harm the call" do
    reports = reports_of { assert_nil(failsafe { |**| raise IOError }.guard(:read_entry) { raise Larder::Error }) }
    assert_equal 1, reports.size
  end

  test "a value that can never be stored is false, and one that could not be stored now is nil" do
    assert_same(false, failsafe.guard_write(:write_entry) { raise Larder::InvalidArgument })
    assert_nil(failsafe.guard_write(:write_entry) { raise Larder::Error })
    assert_nil(failsafe.guard_write(:write_entry) { raise Larder::RemoteError })
  end

  test "a remote store that must not be asked yet is not reported, and one that does not answer is" do
    assert_equal(:other, failsafe.ask(:read_entry, -> { :other }) { raise Larder::Remote::Waiting })
    assert_empty @seen
    assert_equal(:other, failsafe.ask(:read_entry, -> { :other }) { raise Larder::RemoteError })
    assert_equal [[:read_entry, nil]], @seen
    assert_nil(failsafe.ask(:read_entry) { raise Larder::RemoteError })
  end
end
