# frozen_string_literal: true

require "test_helper"
require "active_support/cache/larder_store"

class LarderRemoteConfigurationTest < ActiveSupport::TestCase
  def digest(backplane = "", remote: "remote", life: 60.0)
    Larder::Remote::Configuration.new(remote: remote, backplane: backplane, local_expires_in: life).digest
  end

  test "the backplane, the remote store and local_expires_in: belong to it" do
    assert_equal 4, [digest, digest("redis:a:1"), digest(remote: "other"), digest(life: 5.0)].uniq.size
  end

  test "the digest is the same in every process, has 64 bits and is a name of 16 digits" do
    assert_equal digest("redis:a:1"), digest("redis:a:1")
    made = Array.new(200) { |number| digest(remote: number.to_s) }
    assert(made.all? { |each| (1...(1 << 64)).cover?(each) })
    assert_equal 200, made.uniq.size
    assert_match(/\A\h{16}\z/, Larder::Remote::Configuration.hex(1))
    configuration = Larder::Remote::Configuration.new(remote: "a", backplane: "", local_expires_in: 5.0)
    assert_equal format("%016x", configuration.digest), configuration.name
  end
end
