# frozen_string_literal: true

require "test_helper"

class WebRequestTest < ActiveSupport::TestCase
  def request(&block)
    Larder::WebRequest.new(->(env) { block.call(env) }).call({ "PATH_INFO" => "/" })
  end

  test "only the fiber that serves a request is marked, as long as it does" do
    within = request do |env|
      [env["PATH_INFO"], Larder::WebRequest.current?, Thread.new { Larder::WebRequest.current? }.value]
    end
    assert_equal ["/", true, false], within
    assert_not_predicate Larder::WebRequest, :current?
  end

  test "a request within a request, and one that raises, leave the mark as it was" do
    request do
      assert_raises(RuntimeError) { request { raise "no page" } }
      assert_predicate Larder::WebRequest, :current?
    end
    assert_not_predicate Larder::WebRequest, :current?
  end
end
