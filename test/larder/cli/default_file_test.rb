# frozen_string_literal: true

require "test_helper"
require "json"
require "support/command"

module Larder
  module CLI
    # The file of a command that no argument names.
    class DefaultFileTest < ActiveSupport::TestCase
      include TemporaryCaches
      include Processes
      include Command

      PRODUCTION = "storage/larder/production/cache.larder"
      STAGING = "storage/larder/staging/cache.larder"

      test "the only cache is used if no variable names the environment, and a line on the error output says so" do
        open_cache(PRODUCTION)
        assert_equal [path_of(PRODUCTION), "Using #{PRODUCTION}, the only cache here.\n"], found
        FileUtils.mkdir_p(path_of("storage/larder/test"))
        assert_equal path_of(PRODUCTION), found.first
      end

      test "invalid bytes are refused, as an argument and in the variable, and so is an empty path" do
        assert_equal 2, refused(/"\?" is not valid UTF-8\nTry: larder doctor/, "doctor", "\xFF")
        %w[doctor stat].each do |command|
          message = /\$LARDER_PATH must be valid UTF-8: "\?"\n/
          assert_equal 2, refused(message, command, env: { "LARDER_PATH" => "\xFF" })
          assert_equal 2, refused(/the path "" is empty; name a file\nTry: larder #{command}/, command, "")
        end
      end

      test "the only cache is not used if a variable names another environment" do
        open_cache(PRODUCTION)
        %w[RAILS_ENV RACK_ENV].each do |variable|
          assert_equal 1, refused(/no file #{STAGING} .*There is #{PRODUCTION}\. /,
                                  "stat", env: { variable => "staging" })
        end
      end

      test "several caches are listed with how to choose, unless one is that of the default environment" do
        [PRODUCTION, STAGING].each { |name| open_cache(name) }
        message = "there are several here, and none of the environment development: #{PRODUCTION}, #{STAGING}. " \
                  "Set $RAILS_ENV to choose an environment, or $LARDER_PATH to name the cache"
        assert_equal 1, refused(/#{Regexp.escape(message)}\n\z/, "clear")
        open_cache("storage/larder/development/cache.larder")
        assert_equal [path_of("storage/larder/development/cache.larder"), ""], found
      end

      test "a directory below the application's is enough, whatever tells it apart" do
        open_cache("shop/#{PRODUCTION}")
        path = path_of("shop/#{PRODUCTION}")
        inside = path_of("shop/app/models")
        FileUtils.mkdir_p(inside)
        assert_equal [path, "Using #{path}, the only cache here.\n"], found(chdir: inside)
        assert_equal [path, ""], found(chdir: inside, env: { "RAILS_ENV" => "production" })
        FileUtils.mkdir_p(path_of("shop/engines/blog/config"))
        FileUtils.touch(path_of("shop/engines/blog/config/application.rb"))
        message = %r{no file #{path_of("shop/engines/blog")}/storage/larder/development/cache\.larder \(the default}
        assert_equal 1, refused(message, "stat", chdir: path_of("shop/engines/blog/config"))
      end

      test "so it is in a directory whose name is a pattern of files" do
        path = path_of("[shop] {a,b} */#{PRODUCTION}")
        open_cache("[shop] {a,b} */#{PRODUCTION}")
        inside = path_of("[shop] {a,b} */app")
        FileUtils.mkdir_p(inside)
        assert_equal [path, "Using #{path}, the only cache here.\n"], found(chdir: inside)
        FileUtils.touch("#{inside}/other.larder")
        assert_equal 1, refused(/Next to it there is #{Regexp.escape("#{inside}/other.larder")}\./,
                                "stat", "none", chdir: inside)
      end

      test "the file of sessions is found in the same way" do
        open_cache("storage/larder/production/sessions.larder")
        FileUtils.mkdir_p(path_of("app"))
        _, err, code = larder("sessions", chdir: path_of("app"))
        assert_equal 1, code
        path = path_of("storage/larder/production/sessions.larder")
        assert_match(/\AUsing #{path}, the only file of sessions here\.\nlarder: /, err)
        open_cache("storage/larder/staging/sessions.larder")
        assert_equal 1, refused(/several here.*or \$LARDER_SESSIONS to name the file of sessions$/, "sessions")
      end

      test "directories and files may have names of any bytes, also in a locale without UTF-8" do
        open_cache("sch\u00f6n/#{PRODUCTION}")
        shop = path_of("sch\u00f6n")
        FileUtils.mkdir_p("#{shop}/app")
        FileUtils.touch("#{shop}/odd\xFF.larder".b)
        %w[C C.UTF-8].each do |locale|
          settings = { env: { "LC_ALL" => locale } }
          assert_equal File.join(shop, PRODUCTION), found(chdir: "#{shop}/app", **settings).first
          assert_equal File.join(shop, PRODUCTION),
                       JSON.parse(done("stat", PRODUCTION, "--json", chdir: shop, **settings))["file"]
          assert_equal 1, refused(/no file none in .*\/sch\S+n\. Next to it there is .*odd\\xFF\.larder\. /,
                                  "stat", "none", chdir: shop, **settings)
        end
      end

      test "a working directory that was removed is an error without a stack" do
        Dir.mkdir(path_of("gone"))
        out, err, status = Open3.capture3(PLAIN, "cd gone && rmdir ../gone && exec #{RbConfig.ruby} #{PROGRAM} stat",
                                          chdir: directory)
        assert_equal ["", 1], [out, status.exitstatus]
        assert_match(/\Alarder: /, err)
        assert_no_match(/\.rb:\d+/, err)
      end

      private

      # @return [Array(String, String)] the file that `stat` shows, and what it wrote as errors
      def found(**settings)
        out, err, code = larder("stat", "--json", **settings)
        assert_equal 0, code, err
        [JSON.parse(out)["file"], err]
      end
    end
  end
end
