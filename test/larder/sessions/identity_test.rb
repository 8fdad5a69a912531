# frozen_string_literal: true

require "test_helper"
require "active_model"
require "larder/sessions/identity"

module Larder
  module Sessions
    class IdentityTest < ActiveSupport::TestCase
      # Models as ActiveRecord has them, as far as names are concerned.
      module Models
        class Base
          extend ActiveModel::Naming

          attr_reader :id

          def initialize(id)
            @id = id
          end
        end

        class User < Base; end
        class Admin < Base; end
      end

      test "a name is the same in whatever encoding its bytes come" do
        assert_equal Identity.of("J\u00e9r\u00f4me"), Identity.of("J\u00e9r\u00f4me".b)
        assert_equal Identity.of("J\u00e9r\u00f4me"), Identity.in_values("user_id" => "J\u00e9r\u00f4me".b)
      end

      test "a user goes by the id, others have their kind before it" do
        assert_equal %w[7 7 7], [7, "7", Models::User.new(7)].map { |user| Identity.of(user) }
        assert_equal "admin/7", Identity.of(Models::Admin.new(7))
        assert_equal "7", Identity.of(Struct.new(:id).new(7))
        assert_equal "0b1e", Identity.of(Models::User.new("0b1e"))
      end

      test "what has no name is refused" do
        [nil, "", Models::User.new(nil), Models::User.new(""), Object.new, 1.5].each do |user|
          assert_match(/is no user/, assert_raises(InvalidArgument, user.inspect) { Identity.of(user) }.message)
        end
      end

      test "a long name is as good as a short one" do
        names = ["x" * 255, "x" * 256, "y" * 256].map { |name| Identity.of(name) }
        assert_equal names, names.uniq
        assert(names.all? { |name| name.bytesize <= Identity::MAX })
        assert_equal Identity.of("x" * 256), Identity.in_values("user_id" => "x" * 256)
      end

      test "who is signed in is found in user_id and in Warden's keys" do
        {
          { "user_id" => 7 }                                         => "7",
          { "user_id" => "7", "cart" => 1 }                          => "7",
          { "user_id" => nil }                                       => nil,
          { "user_id" => "" }                                        => nil,
          { "user_id" => { "no" => "id" } }                          => nil,
          { "user_id" => true }                                      => nil,
          { "cart" => 1 }                                            => nil,
          {}                                                         => nil,
          { "warden.user.user.key" => [[7], "$2a$salt"] }            => "7",
          { "warden.user.user.session" => {} }                       => nil,
          { "warden.user.admin.key" => [[7], "$2a$salt"] }           => "admin/7",
          { "x" => 1, "warden.user.user.key" => [%w[0b1e], "salt"] } => "0b1e",
          { "warden.user.user.key" => nil }                          => nil,
          { "warden.user.user.key" => [] }                           => nil
        }.each { |values, name| assert name == Identity.in_values(values), values.inspect }
      end

      test "an application says where it keeps whom" do
        assert_equal "account/7", Identity.finder(:account_id).call("account_id" => 7)
        assert_nil Identity.finder("account_id").call("user_id" => 7)
        assert_equal "admin/7", Identity.finder(->(values) { Models::Admin.new(values["a"]) }).call("a" => 7)
        assert_nil Identity.finder(->(_) {}).call("a" => 7)
        assert_match(/user: 7 is no key/, assert_raises(InvalidArgument) { Identity.finder(7) }.message)
      end
    end
  end
end
