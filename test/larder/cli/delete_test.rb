# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "json"
require "rack/session/larder"
require "support/command"

module Larder
  module CLI
    # `larder delete` in processes of its own, on a file that this one has open.
    class DeleteTest < ActiveSupport::TestCase
      include TemporaryCaches
      include Processes
      include Command

      def file
        path_of("test.larder")
      end

      test "keys are deleted at once for all processes, and counted" do
        cache.set_multi({ "a" => "1", "b" => "2", "c" => "3" })
        assert_equal "Deleted 2 of 3 keys from #{file}.\n", done("delete", "a", "b", "absent", "--file", file)
        assert_equal ["c"], cache.each_key.to_a
        answer = JSON.parse(done("delete", "c", "--file=#{file}", "--json"))
        assert_equal({ "file" => file, "keys" => 1, "deleted" => 1 }, answer)
        assert_equal "Deleted 0 of 1 key from #{file}.\n", done("delete", "c", env: { "LARDER_PATH" => file })
      end

      test "keys of any bytes can be typed as they are shown" do
        keys = ["größe", "a\0b".b, "\xFF\n".b, "back\\slash", "-dash"]
        keys.each { |key| cache.set(key, "v") }
        assert_equal "Deleted 5 of 5 keys from #{file}.\n",
                     done("delete", "--file", file, "--", "größe", "a\\x00b", "\\xFF\\x0A", "back\\slash", "-dash")
      end

      test "keys are read from standard input, line by line" do
        cache.set_multi((0...2500).to_h { |i| ["views/#{i}", "v"] })
        cache.set("users/1", "v")
        names = done("keys", "views/", "--names", "--file", file)
        assert_equal "Deleted 2,500 of 2,500 keys from #{file}.\n", done("delete", "-", "--file", file, stdin: names)
        assert_equal ["users/1"], cache.each_key.to_a
        assert_equal "Deleted 0 of 0 keys from #{file}.\n", done("delete", "-", "--file", file, stdin: "\n\n")
      end

      test "wrong usage is explained" do
        assert_equal 2, refused(/name the keys to delete, or - for/, "delete", "--file", file)
        assert_equal 2, refused(/the key k{40}\.\.\. has 5,000 bytes; keys have 4,095 at most/, "delete", "k" * 5000)
        assert_equal 1, refused(/no file nowhere.* with --file/, "delete", "k", "--file", "nowhere")
        assert_match(/examples:.*delete -/im, done("delete", "--help"))
      end

      test "sessions are not a cache" do
        repository = Rack::Session::Larder.new(->(_env) { [200, {}, []] }, { file: file, size: SIZE }).repository
        repository.begin("s/key", { "cart" => 1 })
        assert_equal 1, refused(/holds an application's sessions.*larder sessions logout ID --file #{file}/,
                                "delete", "s/key", "--file", file)
        assert_equal 1, Larder::Sessions::Statistics.new(repository).stats[:sessions]
        repository.backend.cache.close
      end

      test "proposed commands are quoted for a shell" do
        path = path_of("my shop")
        repository = Rack::Session::Larder.new(->(_env) { [200, {}, []] }, { file: path, size: SIZE }).repository
        repository.begin("s/key", { "cart" => 1 })
        [["delete", "k", "--file", path], ["clear", path], ["resize", path, "2MB"]].each do |command|
          _, err, = larder(*command)
          assert_includes err, Remedy.quoted(path), command.first
        end
        repository.backend.cache.close
      end
    end
  end
end
