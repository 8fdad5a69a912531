# frozen_string_literal: true

require "test_helper"
require_relative "../../../examples/recipes/lib/recipes/password"

module Recipes
  # How passwords are kept.
  class PasswordTest < ActiveSupport::TestCase
    QUICK = { N: 16, r: 8, p: 1 }.freeze

    test "a password is recognized, and another is not" do
      digest = Password.digest("Grüße", cost: QUICK)
      assert Password.correct?("Grüße", digest)
      assert_not Password.correct?("Grusse", digest)
      assert_not Password.correct?("", digest)
    end

    test "the same password is kept in another way each time, and never as it is" do
      one, other = Array.new(2) { Password.digest("secret", cost: QUICK) }
      assert_not_equal one, other
      assert_no_match(/secret/, one)
    end

    test "what is kept says how it was made, so that what was made at another cost is recognized" do
      assert_match(/\A16384\$8\$5\$\h{32}\$\h{64}\z/, Password.digest("secret"))
      assert_match(/\A16\$8\$1\$/, Password.digest("secret", cost: QUICK))
    end

    test "where nothing is kept no password is right" do
      assert_not Password.correct?("", nil)
      assert_not Password.correct?("0" * 32, nil)
    end
  end
end
