# frozen_string_literal: true

require "test_helper"
require_relative "../../../proof/sessions/judge"

module Proof
  # What is no difference may not be called one.
  class SessionJudgeTest < ActiveSupport::TestCase
    USER = 87

    test "a change may be refused beside a sign-out by a former id, also later than that has to hold" do
      differences = judge([commit(6, false), request(:end, 5, true)], { 6 => nil }, clock: 68)
      assert_empty differences
    end

    test "a change is not refused beside a sign-out by another session's id" do
      differences = judge([commit(6, false), request(:end, 4, true)], { 6 => { "user_id" => USER } }, clock: 68)
      assert_includes differences.join, "the answer is wrong: commit 6"
    end

    test "a session may be lost at its renewal if one of its former ids is signed out of, and not another's id" do
      former, others = [5, 4].map do |id|
        judge([renewal, request(:end, id, true)], { 6 => nil, 7 => nil }, clock: 68)
      end
      assert_empty former
      assert_includes others.join, "is lost at its renew"
    end

    private

    def renewal
      SessionProof::Request.new(:renew, 6, 7, {}, [], nil, nil, true, 1.0, 2.0)
    end

    def judge(requests, observed, clock:)
      household = SessionProof::Household.make(43)
      household.former[6] = [SessionProof::Former.new(5, SessionProof::Subject::FORMER_HOLDS)]
      household.sessions[6] = SessionProof::Session.new({ "user_id" => USER }, clock..clock, 0..0, 1)
      judge = SessionProof::Judge.new(household, requests, observed, clock, killed: false)
      judge.sessions
      judge.differences
    end

    def commit(id, result)
      request(:commit, id, result, set: { "b" => 44 })
    end

    def request(kind, id, result, set: {})
      SessionProof::Request.new(kind, id, nil, set, [], nil, nil, result, 1.0, 2.0)
    end
  end
end
