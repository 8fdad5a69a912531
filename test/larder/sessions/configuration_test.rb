# frozen_string_literal: true

require "test_helper"
require "active_support"
require "active_support/cache"
require "active_support/core_ext/integer/time"
require "support/reported_errors"
require "support/environment"
require "larder/sessions"
require "rack/session/larder"

module Larder
  module Sessions
    class ConfigurationTest < ActiveSupport::TestCase
      include ReportedErrors
      include TemporaryCaches
      include Environment

      test "in production a loss of the file must have been thought of" do
        in_environment("production") do
          error = assert_raises(InvalidArgument) { Sessions.repository(file: path_of) }
          assert_match(/In production, say what a loss.*backed_by:.*ephemeral: true/, error.message)
          refute_path_exists path_of
          assert_equal path_of, Sessions.repository(file: path_of, ephemeral: true).backend.to_s
          assert_match(/backed by ActiveSupport::Cache::MemoryStore/,
                       Sessions.repository(file: path_of, backed_by: :memory_store).backend.to_s)
          assert Sessions.repository(cache: :memory_store)
        end
      end

      test "nothing said, sessions are in a file of their own, and end" do
        in_environment(nil) do
          repository = Dir.chdir(directory) { Sessions.repository }
          assert_equal File.join(directory, "storage/larder/development/sessions.larder"), repository.backend.to_s
          assert_equal [30 * 86_400, 86_400], [repository.lifetimes.idle, repository.lifetimes.anonymous]
          assert_equal Configuration::SIZE, repository.backend.cache.size
        end
      end

      test "the file of sessions is known without opening it, and there is none with cache:" do
        assert_equal path_of, Configuration.new(file: path_of).file
        in_environment("test") do
          assert_equal File.join(directory, "storage/larder/test/sessions.larder"),
                       Dir.chdir(directory) { Configuration.new.file }
        end
        assert_nil Configuration.new(cache: :memory_store).file
        refute_path_exists path_of
      end

      test "environments have files of their own" do
        paths = %w[test production].map do |name|
          in_environment(name) { Dir.chdir(directory) { Sessions.repository(ephemeral: true).backend.to_s } }
        end
        assert_equal(%w[test production].map { |name| path_of("storage/larder/#{name}/sessions.larder") }, paths)
      end

      test "a size may be in words" do
        assert_equal 2 << 20, Sessions.repository(file: path_of, size: "2MB").backend.cache.size
      end

      test "options that make no sense are refused with their names" do
        {
          { size: "a lot" }                                => /size: "a lot" is no size; give .*"256MB"/,
          { per_user: 0 }                                  => /per_user: 0 is no number above 0/,
          { per_user: "5" }                                => /per_user: "5"/,
          { anonymous_timeout: -1 }                        => /anonymous_timeout: -1 must be a number of seconds/,
          { user: 5 }                                      => /user: 5 is no key/,
          { cache: :null_store, backed_by: :memory_store }   => /cache: is a store already/,
          { ephemeral: "yes" }                               => /ephemeral: "yes" is neither true nor false/,
          { file: 5 }                                        => /file: 5 is no path/,
          { file: " " }                                      => /file: the path " " is empty; name a file/,
          { cache: :no_store }                               => /cache: :no_store cannot be made/,
          { cache: :null_store, file: path_of }              => /file: and cache: exclude each other/,
          { cache: :null_store }                             => /cache: is a NullStore, which keeps no sessions/,
          { cache: :null_store, backplane: "redis://[::1]:1" } => /cache: is a NullStore/,
          { backed_by: :null_store } => /backed_by: is a NullStore.*without backed_by:/
        }.each do |options, message|
          assert_match message, assert_raises(InvalidArgument) { Sessions.repository(**options) }.message
        end
      end

      test "so are those of the cookie" do
        { { expire_after: "1 day" } => /expire_after: "1 day" must be a number/, { max_age: -5 } => /max_age: -5 must/,
          { key: nil } => /key: nil is no name of a cookie/,
          { key: "" } => /key: "" is no name/ }.each do |options, message|
          error = assert_raises(InvalidArgument) { Rack::Session::Larder.new(nil, file: path_of, **options) }
          assert_match message, error.message
        end
      end

      test "an unused session lives as long as its cookie, signed in or not, unless told otherwise" do
        {
          {}                                          => [nil, nil],
          { expire_after: 5 }                         => [5, 5],
          { max_age: 5 }                              => [5, 5],
          { expire_after: nil }                       => [nil, nil],
          { expire_after: 5, idle_timeout: 7 }        => [7, 5],
          { expire_after: 5, "idle_timeout" => nil }  => [nil, 5],
          { expire_after: 5, anonymous_timeout: 3 } => [5, 3]
        }.each do |given, wanted|
          own, others = Configuration.split({ key: "_s", **given })
          assert_equal [*wanted, "_s"], [own[:idle_timeout], own[:anonymous_timeout], others[:key]], given.inspect
        end
      end

      test "an anonymous session of an application whose cookies live for long is there after a day" do
        own, = Configuration.split({ expire_after: 90 * 86_400, file: path_of })
        assert_equal [90 * 86_400] * 2, Sessions.repository(**own).lifetimes.then { |it| [it.idle, it.anonymous] }
      end

      test "what other stores call an option is refused with the name that it has here" do
        { expires_in: /expire_after:.* or idle_timeout:/, ttl: /expire_after:/, "lifetime" => /idle_timeout:/,
          timeout: /idle_timeout:/, expire_in: /idle_timeout:/, store: /say cache: a store/, servers: /say cache:/,
          redis_server: /say cache:/, namespace: /say cache:/, user_id: /say user:\z/,
          max_sessions: /say per_user:/ }.each do |name, words|
          error = assert_raises(InvalidArgument, name.inspect) { Configuration.split({ name => 5 }) }
          assert_match(/\A#{name}: is no option of sessions; /, error.message)
          assert_match words, error.message
        end
      end

      test "a session that looks signed in and is not known to be is reported once for each key" do
        reported = reports do
          repository = Sessions.repository(file: path_of)
          %w[admin_id account_id admin_id current_user_id uid].each_with_index do |key, number|
            repository.begin(Digest::SHA256.digest(number.to_s), { key => 7, "cart" => {} })
          end
          repository.begin("k" * 32, { "user_id" => 7, "account_id" => 8 })
          repository.begin("l" * 32, { "guest_id" => 8, "user" => { "a" => 1 }, "member_id" => nil, "product_id" => 3 })
        end
        assert_equal %w[admin_id account_id current_user_id uid], (reported.map { |it| it[/session\["(\w+)"\]/, 1] })
        assert_match(/Say user: :admin_id with the session store/, reported.first)
      end

      test "where the application says who is signed in, or binds who is, nothing is reported" do
        assert_empty(reports do
          Sessions.repository(file: path_of, user: :account_id).begin("k" * 32, { "admin_id" => 7 })
          Sessions.repository(file: path_of).begin("l" * 32, { "admin_id" => 7 }, bound: ["7"])
        end)
      end

      LENGTHS = %i[idle_timeout anonymous_timeout max_lifetime expire_after max_age].freeze
      ABSURD = [0, -1, -Float::INFINITY, Float::INFINITY, Float::NAN, 1e-9, 10**12, 10**400, 1000.years, -1.day,
                "5", "", :day, true, [], Object.new, Complex(1, 1), Time.now, 2.weeks.from_now].freeze

      test "a length of time that no session can have is refused where it is configured" do
        LENGTHS.product(ABSURD).each do |name, given|
          error = assert_raises(InvalidArgument, [name, given].inspect) do
            Rack::Session::Larder.new(nil, file: path_of, name => given)
          end
          assert_match(/\A#{name}: .* must be a number of seconds from 1 to 632448000 \(20 years\); nil/,
                       error.message)
        end
      end

      test "an option that is misspelt is refused, one of Rack's is not" do
        error = assert_raises(InvalidArgument) { Configuration.split({ anonymous_timout: 5 }) }
        assert_match(/anonymous_timout: is no option of sessions; did you mean anonymous_timeout:\?/, error.message)
        { secur: :secure, http_only: :httponly, samesite: :same_site, "expire_afer" => :expire_after }
          .each do |name, meant|
          error = assert_raises(InvalidArgument, name) { Configuration.split({ name => true }) }
          assert_match(/\A#{name}: .*; did you mean #{meant}:\?\z/, error.message)
        end
        racks = %i[key path domain expire_after secure httponly defer renew drop skip sidbits secure_random cookie_only
                   same_site assume_ssl partitioned max_age id sid coder secret coders hmac let_me_verify threadsafe]
        given = racks.to_h { |name| [name, 1] }.merge(same_site: :lax)
        assert_equal racks.uniq, Configuration.split(given).last.keys
      end

      test "a same_site: that Rack would refuse in each response is refused at once" do
        ["lax", :strct, 1].each do |given|
          error = assert_raises(InvalidArgument) { Configuration.split({ same_site: given }) }
          known = ":lax, :strict, :none and nil (no SameSite)"
          assert_equal "same_site: #{given.inspect} is not one of #{known}", error.message
        end
        [nil, true, :strict, "Lax", :None, ->(_request, _response) { :lax }].each do |given|
          assert_equal({ same_site: given }, Configuration.split({ same_site: given }).last)
        end
      end

      test "where nothing is configured a question says so" do
        Sessions.use(nil)
        assert_match(/config\.session_store :larder_store/, assert_raises(Error) { Sessions.stats }.message)
        assert_match(/outside of a request/, assert_raises(Error) { Sessions.bind(1) }.message)
      end

      private

      def reports(&block)
        reported(&block).map(&:message)
      end

      def in_environment(name, &block)
        with_environment({ "RACK_ENV" => name, "RAILS_ENV" => nil }, &block)
      end
    end
  end
end
