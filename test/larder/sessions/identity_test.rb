# frozen_string_literal: true

require "test_helper"
require "delegate"
require "larder/sessions/identity"

module Larder
  module Sessions
    class IdentityTest < ActiveSupport::TestCase
      # As Rails' models are, as far as names are concerned: without a module of Larder's before them.
      def self.model(name, base: nil)
        Struct.new(:id) do
          define_singleton_method(:name) { name }
          define_singleton_method(:base_class) { base } if base
        end
      end

      User = model("User")
      Admin = model("Admin")
      AdminUser = model("Admin::User")
      Clerk = model("Clerk", base: User)

      test "a name is the same in whatever encoding its bytes come" do
        assert_equal Identity.of("J\u00e9r\u00f4me"), Identity.of("J\u00e9r\u00f4me".b)
        assert_equal [Identity.of("J\u00e9r\u00f4me")], Identity.in_values("user_id" => "J\u00e9r\u00f4me".b)
      end

      test "a user goes by class and id, and a plain id is a User's" do
        assert_equal %w[User/7], [7, "7", :"7", User.new(7), User.new("7")].map { |user| Identity.of(user) }.uniq
        assert_equal "Admin/7", Identity.of(Admin.new(7))
        assert_equal "Admin::User/7", Identity.of(AdminUser.new(7))
        assert_equal "User/0b1e", Identity.of(User.new("0b1e"))
      end

      test "a model that shares a table with others goes by the class that owns it" do
        assert_equal "User/7", Identity.of(Clerk.new(7))
      end

      test "a decorated model is the model" do
        assert_equal "Admin/7", Identity.of(SimpleDelegator.new(SimpleDelegator.new(Admin.new(7))))
      end

      test "a key of several columns is what Warden has" do
        assert_equal ["User/1,2"],
[Identity.of(User.new([1, 2]))] | Identity.in_values("warden.user.user.key" => [[1, 2], "s"])
      end

      test "a name that was told is understood" do
        ids = ["7", "a/b", "a%2Fb", "%", "%:x", "/", "x" * 300, "ö/ö", "\n"]
        names = ids.flat_map { |id| [User, Admin, AdminUser].map { |kind| Identity.of(kind.new(id)) } }
        assert_equal names, names.uniq
        assert_equal names, names.map { |name| Identity.of(name) }
        assert(names.all? { |name| name.bytesize <= Identity::MAX })
      end

      test "what looks like a name and is none is the id of a User" do
        { "admin/33" => "User/admin%2F33", "Admin/" => "User/Admin%2F", "/7" => "User/%2F7",
          "A/b/c" => "User/A%2Fb%2Fc",
          "A::/7" => "User/A::%2F7", "Admin/100%" => "User/Admin%2F100%25", "Admin/%2f" => "User/Admin%2F%252f" }
          .each do |given, name|
          assert_equal name, Identity.of(given)
        end
      end

      test "what a session says is an id, whatever it looks like" do
        assert_equal ["User/Admin%2F33"], Identity.in_values("user_id" => "Admin/33")
        assert_equal ["User/Admin%2F33"], Identity.in_values("warden.user.user.key" => [["Admin/33"], "salt"])
        assert_equal "User/Admin%2F33", Identity.in_session("Admin/33")
        assert_equal ["User/Admin%2F33"], Identity.finder(->(values) { values["name"] }).call("name" => "Admin/33")
        assert_equal ["Account/Admin%2F33"], Identity.finder(:account_id).call("account_id" => "Admin/33")
      end

      # name => what a gem stores, and the users that it says are signed in
      BY_GEMS = {
        "Authlogic"                       =>
          [{ "user_credentials" => "t" * 128, "user_credentials_id" => 7 }, %w[User/7]],
        "Authlogic, another primary key"  =>
          [{ "user_credentials" => "t", "user_credentials_uuid" => "a-b" }, %w[User/a-b]],
        "Authlogic, a module"             =>
          [{ "admin/user_credentials" => "t", "admin/user_credentials_id" => 7 }, %w[Admin::User/7]],
        "Authlogic, signed out"           =>
          [{ "user_credentials" => nil, "user_credentials_id" => nil }, []],
        "Rodauth"                         =>
          [{ "account_id" => 7, "authenticated_by" => ["password"] }, %w[Account/7]],
        "Rodauth, a prefix"               =>
          [{ "rodauth_account_id" => 7, "rodauth_authenticated_by" => [] }, %w[Account/7]],
        "Rodauth, a second configuration" =>
          [{ "admin_account_id" => 7, "admin_authenticated_by" => ["password"] }, %w[Admin/7]],
        "not Rodauth"                     => [{ "account_id" => 7 }, []],
        "Sorcery"                         => [{ "user_id" => "7" }, %w[User/7]],
        "three gems"                      =>
          [{ "user_id" => 1, "authenticated_by" => [], "account_id" => 2, "warden.user.admin.key" => [[3], "s"] },
           %w[User/1 Account/2 Admin/3]]
      }.freeze

      BY_GEMS.each do |name, (values, users)|
        test "users that are signed in: #{name}" do
          assert_equal users.sort, Identity.in_values(values).sort
        end
      end

      test "the classes of gems' scopes may be said" do
        values = { "user_credentials" => "t", "user_credentials_id" => 1, "authenticated_by" => [], "account_id" => 2 }
        finder = Identity.finder({ user: "Member", account: User })
        assert_equal %w[Member/1 User/2], finder.call(values)
      end

      test "a key of any length makes no name that is too long" do
        Identity.in_values("#{"x" * 300}_credentials" => "t", "#{"x" * 300}_credentials_id" => 7,
                           "#{"y" * 300}authenticated_by" => [], "#{"y" * 300}account_id" => 7)
                .each { |name| assert_operator name.bytesize, :<=, Identity::MAX }
      end

      test "what has no name is refused" do
        [nil, "", User.new(nil), User.new(""), Object.new, 1.5].each do |user|
          assert_match(/is no user/, assert_raises(InvalidArgument, user.inspect) { Identity.of(user) }.message)
        end
      end

      test "a model of a class without a name is refused, and may be given one" do
        guest = Struct.new(:id).new(7)
        error = assert_raises(InvalidArgument) { Identity.of(guest) }
        assert_match(/#<Class:0x\h+> has no name.*bind\(id, as: "Guest"\)/, error.message)
        assert_equal %w[Guest/7], [guest, 7, "7"].map { |user| Identity.in_session(user, as: "Guest") }.uniq
        assert_equal "User/7", Identity.in_session(7, as: Clerk)
        ["guest", "", "A/b", "A" * 200].each do |name|
          assert_match(/is no name of a class/, assert_raises(InvalidArgument) do
            Identity.in_session(7, as: name)
          end.message)
        end
      end

      test "a long id is as good as a short one" do
        names = ["x" * 250, "x" * 251, "x" * 256, "y" * 256].map { |id| Identity.of(id) }
        assert_equal names, names.uniq
        assert(names.all? { |name| name.bytesize <= Identity::MAX })
        assert_equal [Identity.of("x" * 256)], Identity.in_values("user_id" => "x" * 256)
        assert_equal names, names.map { |name| Identity.of(name) }
      end

      test "everybody who is signed in is found in user_id and in Warden's keys" do
        {
          { "user_id" => 7 }                                         => %w[User/7],
          { "user_id" => "7", "cart" => 1 }                          => %w[User/7],
          { "user_id" => nil }                                       => [],
          { "user_id" => "" }                                        => [],
          { "user_id" => { "no" => "id" } }                          => [],
          { "user_id" => true }                                      => [],
          { "cart" => 1 }                                            => [],
          {}                                                         => [],
          { "warden.user.user.key" => [[7], "$2a$salt"] }            => %w[User/7],
          { "warden.user.user.session" => {} }                       => [],
          { "warden.user.admin.key" => [[7], "$2a$salt"] }           => %w[Admin/7],
          { "warden.user.shop_owner.key" => [[7], "$2a$salt"] }      => %w[ShopOwner/7],
          { "x" => 1, "warden.user.user.key" => [%w[0b1e], "salt"] } => %w[User/0b1e],
          { "warden.user.admin.key" => [[7], "salt"], "warden.user.user.key" => [[8], "salt"], "user_id" => 9 } =>
            %w[User/9 Admin/7 User/8],
          { "warden.user.user.key" => [[7], "salt"], "user_id" => 7 } => %w[User/7],
          { "warden.user.user.key" => nil }                          => [],
          { "warden.user.user.key" => [] }                           => []
        }.each { |values, names| assert_equal names, Identity.in_values(values), values.inspect }
      end

      test "an application says where it keeps whom" do
        assert_equal ["Account/7"], Identity.finder(:account_id).call("account_id" => 7)
        assert_empty Identity.finder("account_id").call("user_id" => 7)
        assert_equal ["Admin/7"], Identity.finder(->(values) { Admin.new(values["a"]) }).call("a" => 7)
        assert_equal %w[Admin/7 User/8 Guest/9],
                     Identity.finder(->(values) { [Admin.new(values["a"]), 8, nil, { "Guest" => 9 }] }).call("a" => 7)
        assert_empty Identity.finder(->(_) {}).call("a" => 7)
        assert_match(/user: 7 is no key/, assert_raises(InvalidArgument) { Identity.finder(7) }.message)
      end

      test "an application says which classes its scopes are of" do
        finder = Identity.finder({ admin: "Admin::User", clerk: Clerk, user: "Person" })
        values = { "user_id" => 1, "warden.user.admin.key" => [[2], "s"], "warden.user.clerk.key" => [[3], "s"],
                   "warden.user.other.key" => [[4], "s"] }
        assert_equal %w[Person/1 Admin::User/2 User/3 Other/4], finder.call(values)
        assert_match(/"admin" is no name|admin is no name/,
                     assert_raises(InvalidArgument) { Identity.finder({ admin: "admin" }) }.message)
      end
    end
  end
end
