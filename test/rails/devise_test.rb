# frozen_string_literal: true

require "support/store_case"
require "support/shop"

# A real Rails application that signs in with Devise, and its sessions in Larder's file.
class DeviseTest < StoreCase
  include RailsShop

  FILES = {
    "app/models/user.rb" => <<~RUBY,
      class User < ActiveRecord::Base
        devise :database_authenticatable, :rememberable
      end
    RUBY
    "app/models/staff/member.rb" => <<~RUBY,
      module Staff
        class Member < ActiveRecord::Base
          self.table_name = "members"
          devise :database_authenticatable
        end
      end
    RUBY
    "app/controllers/application_controller.rb" => <<~RUBY,
      class ApplicationController < ActionController::Base
        skip_forgery_protection
      end
    RUBY
    "app/controllers/homes_controller.rb" => <<~RUBY,
      class HomesController < ApplicationController
        include Devise::Controllers::Rememberable

        def show
          render plain: [current_user&.id, current_clerk&.id].inspect
        end

        def create
          request.session_options[:renew] = true
          head :no_content
        end

        def destroy
          head :no_content
        end

        def update
          return session[:cart] = params[:cart] if params[:cart]

          Larder::Sessions.logout(current_user, except: session)
          remember_me(current_user)
          head :no_content
        end
      end
    RUBY
    "config/routes.rb" => <<~RUBY
      Rails.application.routes.draw do
        devise_for :users
        devise_for :clerks, class_name: "Staff::Member"
        resource :home, only: [:show, :create, :update, :destroy]
      end
    RUBY
  }.freeze

  LINES = <<~RUBY
    require "devise"
    require "devise/orm/active_record"
    require "action_dispatch/testing/integration"
    Devise.stretches = 1
    Shop.config.session_store :larder_store, key: "_shop", size: "2MB", ephemeral: true
  RUBY

  TABLES = <<~RUBY
    ActiveRecord::Schema.define do
      create_table(:users) do |t|
        t.string :email, :encrypted_password
        t.datetime :remember_created_at
      end
      create_table(:members) { |t| t.string :email, :encrypted_password }
    end
    User.create!(email: "ann@example.org", password: "secret!")
    User.create!(email: "bob@example.org", password: "secret!")
    Staff::Member.create!(id: 7, email: "ann@example.org", password: "secret!")

    def browser(cookies = {})
      ActionDispatch::Integration::Session.new(Rails.application).tap do |browser|
        cookies.each { |name, value| browser.cookies[name] = value }
      end
    end

    def signed_in(as: "user", email: "ann@example.org", on: browser, remember: "1")
      on.post("/\#{as}s/sign_in", params: { as => { email: email, password: "secret!", remember_me: remember } })
      on.response.redirect? || raise(on.response.status.to_s + on.response.body)
      on
    end

    def who(browser)
      browser.get("/home")
      browser.response.body
    end

    # The same browser after it was closed and opened again: only what remembers its user is left.
    def reopened(one)
      browser(one.cookies.to_hash.slice("remember_user_token"))
    end
  RUBY

  def setup
    super
    FILES.each do |name, text|
      FileUtils.mkdir_p(File.dirname(File.join(root, name)))
      File.write(File.join(root, name), text)
    end
  end

  def in_application(script, lines: "")
    in_rails(TABLES + script, cache_store: ":null_store", lines: LINES + lines)
  end

  test "everybody who signs in by any scope is known by the class that Devise names, under a new id" do
    assert_equal [true, "[1, 7]", [true, true, false], 1, [false, false], "[nil, nil]"], in_application(<<~RUBY)
      one = signed_in(remember: "0")
      before = one.cookies["_shop"]
      signed_in(as: "clerk", on: one)
      known = [User.find(1), Staff::Member.find(7), User.find(2)].map { |user| Larder::Sessions.logged_in?(user) }
      here = who(one)
      ended = Larder::Sessions.logout("Staff::Member/7")
      [before != one.cookies["_shop"], here, known, ended,
       [1, Staff::Member.find(7)].map { |user| Larder::Sessions.logged_in?(user) }, who(one)]
    RUBY
  end

  slow_test "who signs out is known no longer" do
    assert_equal [302, "[nil, nil]", false, "[nil, nil]"], in_application(<<~RUBY)
      one = signed_in
      one.delete("/users/sign_out")
      [one.response.status, who(one), Larder::Sessions.logged_in?(1), who(reopened(one))]
    RUBY
  end

  ["", "Devise.sign_out_all_scopes = false"].each do |lines|
    test "the sign-out page ends a session whose id was renewed a moment ago #{"\"#{lines}\"" unless lines.empty?}" do
      expected = ["[1, nil]", "[1, nil]", [302, "[nil, nil]", false], "[2, nil]"]
      assert_equal expected, in_application(<<~RUBY, lines: lines)
        one = signed_in(remember: "0")
        slow = browser(one.cookies.to_hash)
        one.post("/home")
        renewed = who(one)
        slow.get("/home")
        slow.delete("/home")
        other = who(one)
        slow.delete("/users/sign_out")
        out = [slow.response.status, who(one), Larder::Sessions.logged_in?(1)]
        [renewed, other, out, who(signed_in(email: "bob@example.org", on: slow))]
      RUBY
    end
  end

  test "a late request with the id from before a sign-in does not sign the browser out" do
    assert_equal [[nil, "[nil, nil]"], "[1, nil]"], in_application(<<~RUBY)
      one = browser
      one.patch("/home", params: { cart: 1 })
      slow = browser(one.cookies.to_hash)
      signed_in(on: one, remember: "0")
      slow.patch("/home", params: { cart: 2 })
      [[slow.response.headers["set-cookie"], who(slow)], who(one)]
    RUBY
  end

  test "who is remembered is signed in, and known, in a new session" do
    assert_equal ["[1, nil]", 2], in_application(<<~RUBY)
      [who(reopened(signed_in)), Larder::Sessions.for(1).size]
    RUBY
  end

  slow_test "a model that was loaded before the cookie was made forgets it too, a destroyed one has nothing to" do
    assert_equal ["[nil, nil]", 1, 0], in_application(<<~RUBY)
      stale = User.find(1)
      one = signed_in
      ended = Larder::Sessions.logout(stale)
      [who(reopened(one)), ended, Larder::Sessions.logout(User.find(2).destroy)]
    RUBY
  end

  ["", "Devise.expire_all_remember_me_on_sign_out = false"].each do |lines|
    test "who is logged out is not signed in again by a cookie that remembers #{"\"#{lines}\"" unless lines.empty?}" do
      assert_equal [3, ["[nil, nil]"] * 3, false, ["[2, nil]", "[2, nil]"]], in_application(<<~RUBY, lines: lines)
        all = [signed_in, signed_in]
        all << reopened(all.first).tap { |one| who(one) }
        bob = signed_in(email: "bob@example.org")
        ended = Larder::Sessions.logout(User.find(1))
        [ended, [*all, reopened(all.first)].drop(1).map { |one| who(one) }, Larder::Sessions.logged_in?(1),
         [who(bob), who(reopened(bob))]]
      RUBY
    end
  end

  slow_test "the session from which all others are ended goes on, and is remembered anew" do
    assert_equal [["[1, nil]", "[1, nil]"], ["[nil, nil]", "[nil, nil]"]], in_application(<<~RUBY)
      here, there = signed_in, signed_in
      sleep 0.01
      here.patch("/home")
      [here, there].map { |one| [who(one), who(reopened(one))] }
    RUBY
  end

  slow_test "a logout by name, or of one session, leaves the remember cookie until remember_created_at is cleared" do
    assert_equal [1, "[1, nil]", true, "[nil, nil]"], in_application(<<~RUBY)
      one = signed_in
      ended = Larder::Sessions.logout("User/1")
      again = who(one)
      User.find(1).update!(remember_created_at: nil)
      [ended, again, Larder::Sessions.revoke(Larder::Sessions.for(1).first.handle), who(one)]
    RUBY
  end

  slow_test "the sessions end also if the user cannot be forgotten" do
    assert_equal ["no database", 0], in_application(<<~RUBY)
      signed_in
      user = User.find(1)
      user.define_singleton_method(:save) { |**| raise "no database" }
      error = begin
        Larder::Sessions.logout(user)
      rescue RuntimeError => e
        e.message
      end
      [error, Larder::Sessions.for(1).size]
    RUBY
  end
end
