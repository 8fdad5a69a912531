# frozen_string_literal: true

require "test_helper"
require "support/command"
require "support/optional_gem"
require "support/servers"
require "support/session_guide"
require "larder/sessions"

module House
  # The guide to sessions, and what the README says of them: every example runs, each in an application of its own, and
  # so does every command.
  class SessionGuideTest < ActiveSupport::TestCase
    include TemporaryDirectory
    include Processes
    include Command

    ROOT = File.expand_path("../..", __dir__)
    TEXT = %w[docs/guides/sessions.md README.md].to_h do |name|
      [name, File.read(File.join(ROOT, name), encoding: "UTF-8")]
    end
    BLOCKS = TEXT.flat_map do |name, text|
      blocks = text.scan(/^```(\w+)\n(.*?)^```/m)
      name == "README.md" ? blocks.grep(->((_, block)) { block.match?(/session/i) }) : blocks
    end.freeze
    RUBY = BLOCKS.filter_map { |language, block| block if language == "ruby" }.uniq.freeze

    # What an example is, by what it says.
    KINDS = { /config\.session_store/ => "configuration", /^use Rack/ => "rack", /TokensController/ => "tokens",
              /^set :session_store/ => "sinatra", /include Clearance/ => "clearance",
              /include Authentication/ => "authentication", /SignInsController|sign_ins, only/ => "page",
              /# =>/ => "questions" }.freeze

    test "there are examples of every kind" do
      assert_equal (KINDS.values + ["action"]).sort, RUBY.map { |block| kind_of(block) }.uniq.sort
    end

    RUBY.each_with_index do |block, number|
      next if block.match?(/SignInsController|sign_ins, only/)

      test "example #{number + 1} runs: #{block.lines.grep_v(/\A *#/).first.strip}" do
        try(kind_of(block), block)
      end
    end

    test "the page that says where you are signed in works" do
      routes, controller = RUBY.select { |block| kind_of(block) == "page" }
      FileUtils.mkdir_p(path_of("app/views/sign_ins"))
      File.write(path_of("app/views/sign_ins/index.html.erb"), BLOCKS.find { |language, _| language == "erb" }.last)
      try("page", "#{routes}\n\n#{controller}")
    end

    test "the commands run" do
      consoles = BLOCKS.filter_map { |language, block| block if language == "console" }
      lines = consoles.flat_map { |block| block.scan(/^\$ (larder .*)$/).flatten }
      commands = lines.map { |line| line.sub(/ *(?:#|\|).*/, "").split.drop(1) }
      assert_operator commands.size, :>, 4
      sessions = Larder::Sessions.repository(file: path_of("storage/larder/development/sessions.larder"), size: 1 << 20)
      sessions.index.announce
      sessions.find("a" * 32)
      commands.each do |words|
        _, error, code = larder(*words, *("--yes" if words.intersect?(%w[--all clear-anonymous])))
        next assert_match(/no session has this handle/, error) if words.include?("revoke")

        assert_equal ["", 0], [error, code], words.join(" ")
      end
    end

    test "what the command shows has the shape that the guide shows" do
      sessions = Larder::Sessions.repository(file: path_of("storage/larder/production/sessions.larder"))
      sessions.index.announce
      sessions.find("a" * 32)
      shown = TEXT["docs/guides/sessions.md"][/^\$ larder sessions\n(.*?)^```/m, 1]
      assert_equal shape(shown), shape(done("sessions", env: { "RAILS_ENV" => "production" }))
    end

    private

    # Without figures.
    def shape(text)
      text.gsub(/\d[\d,.]*/, "0").gsub(/ +0/, " 0").gsub(/ +0 %$/, "").gsub(/[#-]{30}/, "bar")
          .sub(/0 (?:\w+ )?of 0/, "0 of 0")
    end

    def kind_of(block)
      KINDS.find { |pattern, _| block.match?(pattern) }&.last || "action"
    end

    def try(kind, block)
      redis = TestServers.endpoint("redis") if block.include?("REDIS_URL")
      skip("redis is not installed") if block.include?("REDIS_URL") && redis.nil?
      missing = OptionalGem.missing("sinatra/base") if kind == "sinatra"
      skip(missing) if missing
      ran = in_child do
        ENV["REDIS_URL"] = redis&.fetch("url")
        Dir.chdir(directory)
        Examples.public_send(kind, block)
        kind
      end
      assert_equal kind, ran
    end
  end
end
