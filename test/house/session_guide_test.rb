# frozen_string_literal: true

require "test_helper"
require "support/command"
require "support/optional_gem"
require "support/servers"
require "support/session_guide"
require "larder/sessions"
require "redis"

module House
  # The guide to sessions, and what the README says of them: every example runs, each in an application of its own, and
  # so does every command.
  class SessionGuideTest < ActiveSupport::TestCase
    include TemporaryDirectory
    include Processes
    include Command

    ROOT = File.expand_path("../..", __dir__)
    GUIDE = "docs/guides/sessions.md"
    REFERENCE = "docs/reference/sessions.md"
    TEXT = [GUIDE, REFERENCE, "README.md"].to_h do |name|
      [name, File.read(File.join(ROOT, name), encoding: "UTF-8")]
    end
    BLOCKS = TEXT.flat_map do |name, text|
      blocks = text.scan(/^```(\w+)\n(.*?)^```/m)
      name == "README.md" ? blocks.grep(->((_, block)) { block.match?(/session/i) }) : blocks
    end.freeze
    RUBY = BLOCKS.filter_map { |language, block| block if language == "ruby" }.uniq.freeze

    # What an example is, by what it says.
    KINDS = { /rescue_from/ => "outage", /backplane:/ => "machines", /migrate_from:/ => "change",
              /config\.session_store/ => "configuration", /^use Rack/ => "rack", /TokensController/ => "tokens",
              /^set :session_store/ => "sinatra", /include Clearance/ => "clearance",
              /include Authentication/ => "authentication", /SignInsController|sign_ins, only/ => "page",
              /# with cache:/ => "shared", /the next request reads/ => "values",
              /:expire_after\] =/ => "remembered", /# =>/ => "questions", /user_id/ => "sign_in" }.freeze
    # Kinds that have tests of their own.
    APART = %w[page outage machines change shared].freeze

    test "there are examples of every kind" do
      assert_equal KINDS.values.sort, RUBY.map { |block| kind_of(block) }.uniq.sort
      assert_equal %w[console erb ruby], BLOCKS.map(&:first).uniq.sort
    end

    test "the guide has 2,400 words at most" do
      assert_operator TEXT[GUIDE].split.size, :<=, 2400
    end

    test "the reference has the options that sessions take" do
      options = TEXT[REFERENCE][/^## Options$(.*?)^## /m, 1].scan(/^\| `(\w+):`/).flatten
      assert_equal Larder::Sessions::Configuration::OPTIONS.map(&:to_s).sort, options.sort
    end

    test "the links to these pages lead to their chapters" do
      pages = Dir.glob(["*.md", "docs/**/*.md"], base: ROOT).to_h { |name| [name, File.read(File.join(ROOT, name))] }
      links = pages.flat_map do |name, text|
        text.scan(/\]\(([^)\s#]*)#([^)\s]+)\)/).filter_map do |path, anchor|
          page = path.empty? ? name : absolute(name, path)
          "#{page}##{anchor}" if [GUIDE, REFERENCE].include?(page)
        end
      end
      assert_operator links.size, :>, 20
      assert_empty links - [GUIDE, REFERENCE].flat_map { |page| anchors(pages[page]).map { |one| "#{page}##{one}" } }
    end

    RUBY.each_with_index do |block, number|
      next if APART.include?(KINDS.find { |pattern, _| block.match?(pattern) }&.last)

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

    RUBY.grep(/migrate_from:/).each do |block|
      test "a user who is signed in stays so: #{block[/migrate_from: .*/]}" do
        with_redis(block) do
          cookies = in_place { Examples.former(block) }
          assert_equal [Examples::SIGNED_IN.to_json, true, 1, "{}", "{}"],
                       in_place { Examples.changed(block, cookies) }
        end
      end
    end

    test "a user who signs in on one machine is signed in on the other, and a logout there ends all" do
      block = RUBY.find { |one| kind_of(one) == "machines" }
      with_redis(block) do
        %w[one two].each { |name| FileUtils.mkdir_p(path_of(name)) }
        cookies, = in_place("one") { Examples.machine(block, {}) { |browser| browser.visit("GET", "/sign_in") && nil } }
        _, found = in_place("two") do
          Examples.machine(block, cookies) do |browser|
            [browser.visit("GET", "/show").body, Larder::Sessions.for(7).size, Larder::Sessions.logout(7)]
          end
        end
        assert_equal [Examples::SIGNED_IN.to_json, 1, 1], found
        _, found = in_place("one") { Examples.machine(block, cookies) { |browser| browser.visit("GET", "/show").body } }
        assert_equal "{}", found
      end
    end

    test "the questions have the answers that the guide shows with cache:" do
      machines, block = %w[machines shared].map { |kind| RUBY.find { |one| kind_of(one) == kind } }
      [machines, machines.sub(/, backplane:.*/, "")].each do |configuration|
        with_redis(configuration) do
          assert_equal :answered, in_place { Examples.questions(block, configuration) && :answered }
        end
      end
    end

    test "while Redis is down, cache: answers as the table says" do
      page, block = %w[outage machines].map { |kind| RUBY.find { |one| kind_of(one) == kind } }
      signed_in = Examples::SIGNED_IN.to_json
      unknown = "Larder::Sessions::UnavailableError"
      assert_equal({ free: [200, ""], read: [200, signed_in], change: [503, "1"], sign_in: [503, "1"],
                     lost: [429, "Back in a minute"], sign_out: [200, ""], signed_out: [200, "{}"],
                     logged_in: unknown, logout: unknown }, outage(page, block))
      assert_equal [503, "1"], outage(nil, block)[:lost]
      assert_equal [503, "1"], outage(nil, block.sub(/, backplane:.*/, ""))[:read]
    end

    test "while Redis is down, backed_by: answers as the table says" do
      block = RUBY.find { |one| one.include?("backed_by:") }
      assert_equal({ free: [200, ""], read: [200, Examples::SIGNED_IN.to_json], change: [200, ""], sign_in: [200, ""],
                     lost: [503, "1"], sign_out: [200, ""], signed_out: [200, "{}"], logged_in: true, logout: 2 },
                   outage(nil, block))
    end

    test "a shell shows what the guide shows" do
      sessions = Larder::Sessions.repository(file: path_of("storage/larder/production/sessions.larder"), size: 1 << 20)
      sessions.index.announce
      [42, 42, { "Admin" => 7 }, 1, 2, 3, 3].each_with_index do |user, number|
        sessions.begin(Digest::SHA256.digest(number.to_s), { "n" => number }, bound: [bound(user)])
      end
      sessions.begin(Digest::SHA256.digest("anonymous"), { "cart" => 1 })
      shown = TEXT[GUIDE].scan(/^\$ RAILS_ENV=production larder (.*)\n((?:(?!\$|```).*\n)+)/)
      assert_equal 3, shown.size
      shown.each { |words, text| assert_equal text, done(*words.split, env: { "RAILS_ENV" => "production" }) }
    end

    test "the commands run" do
      consoles = BLOCKS.filter_map { |language, block| block if language == "console" }
      lines = consoles.flat_map { |block| block.scan(/^\$ (?:[A-Z_]+=\w+ )?(larder .*)$/).flatten }
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
      shown = TEXT[REFERENCE][/^\$ larder sessions\n(.*?)^```/m, 1]
      assert_equal shape(shown), shape(done("sessions", env: { "RAILS_ENV" => "production" }))
    end

    private

    def absolute(name, path)
      File.expand_path(path, "/#{File.dirname(name)}").delete_prefix("/")
    end

    def anchors(text)
      text.scan(/^##+ (.+)$/).flatten.map { |title| title.downcase.delete("^a-z0-9 -").tr(" ", "-") }
    end

    # Without figures.
    def shape(text)
      text.gsub(/\d[\d,.]*/, "0").gsub(/ +0/, " 0").gsub(/ +0 %$/, "").gsub(/[#-]{30}/, "bar")
          .sub(/0 (?:\w+ )?of 0/, "0 of 0")
    end

    def kind_of(block)
      KINDS.find { |pattern, _| block.match?(pattern) }&.last
    end

    def bound(user)
      user.is_a?(Hash) ? user.first.join("/") : "User/#{user}"
    end

    def try(kind, block)
      missing = OptionalGem.missing("sinatra/base") if kind == "sinatra"
      skip(missing) if missing
      with_redis(block) do
        assert_equal(kind, in_place { Examples.public_send(kind, block) && kind })
      end
    end

    # In a process of its own, as each application is.
    def in_place(name = ".")
      in_child do
        Dir.chdir(path_of(name))
        yield
      end
    end

    # An empty server.
    def with_redis(block)
      return yield unless block.include?("REDIS_URL")

      url = TestServers.endpoint("redis")&.fetch("url") || skip("redis is not installed")
      Redis.new(url: url).tap(&:flushall).close
      with_variable(url) { yield }
    end

    def with_variable(url)
      before = ENV.fetch("REDIS_URL", nil)
      ENV["REDIS_URL"] = url
      yield
    ensure
      ENV["REDIS_URL"] = before
    end

    # With a server of its own, which dies.
    def outage(page, block)
      type = Larder::Lab::Servers.fetch("redis")
      skip("redis is not installed") unless type.path
      place = Dir.mktmpdir("larder-test")
      server = type.new(place).tap(&:start)
      FileUtils.mkdir_p(path_of(File.basename(place)))
      with_variable(server.endpoint.fetch("url")) do
        in_place(File.basename(place)) do
          Examples.outage(page, block) { Process.kill(:KILL, server.pid) }
        end
      end
    ensure
      server&.stop
      FileUtils.rm_rf(place) if place
    end
  end
end
