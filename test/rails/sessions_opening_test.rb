# frozen_string_literal: true

require "support/store_case"
require "support/shop"

# A real Rails application with sessions in Larder's file, which it opens when a request needs it.
class SessionsOpeningTest < StoreCase
  include RailsShop

  NOBODY = 65_534
  SESSIONS = <<~RUBY
    Shop.config.session_store :larder_store, size: "2MB", ephemeral: true
    Shop.config.action_dispatch.show_exceptions = :all
    require "action_dispatch/testing/integration"

    # @return [Array(Integer, String)] status and body
    def ask(browser, method, path)
      browser.public_send(method, path)
      [browser.response.status, browser.response.body]
    end

    def browser
      ActionDispatch::Integration::Session.new(Rails.application)
    end
  RUBY

  def in_shop(script, lines: SESSIONS, **options)
    in_rails(script, cache_store: ":null_store", lines: lines, **options)
  end

  def log
    File.read(File.join(root, "log.txt"))
  end

  def storage
    File.join(root, "storage")
  end

  # The command that runs another one as nobody.
  def as_nobody
    drop = "Process::GID.change_privilege(#{NOBODY}); Process::UID.change_privilege(#{NOBODY}); "
    _, readable = Open3.capture2e(RbConfig.ruby, "-e", "#{drop} exit(File.readable?(ARGV[0]))", __FILE__)
    skip "other users may not read this checkout" unless readable.success?

    [RbConfig.ruby, "-e", "#{drop} exec(*ARGV)"]
  end

  test "a boot, and pages that need no session, make no file" do
    assert_equal [200, [200, "nil"], []], in_shop(<<~RUBY)
      [get("/figures").first, ask(browser, :get, "/sign_in"), Dir.glob(Rails.root.join("storage/**/*"))]
    RUBY
  end

  slow_test "the first session makes it, also in workers that were forked after the boot" do
    made, shown, files = in_shop(<<~RUBY)
      one = browser
      pid = fork { exit!(ask(browser, :post, "/sign_in").first == 201) }
      made = [Process.wait2(pid).last.success?, ask(one, :post, "/sign_in").first]
      shown = [ask(one, :get, "/sign_in").last, Larder::Sessions.stats[:signed_in]]
      [made, shown, Dir.children(Rails.root.join("storage/larder/production"))]
    RUBY
    assert_equal [[true, 201], ["1", 2], %w[sessions.larder sessions.larder.lock]], [made, shown, files.sort]
  end

  test "while it cannot be opened requests that need their session fail, nobody is signed out, and others go on" do
    before, during, after = in_shop(<<~RUBY, from: root)
      mine = browser
      Process.wait(fork { ask(mine, :post, "/sign_in"); File.write("cookie", mine.cookies["_session_id"]) })
      mine.cookies["_session_id"] = File.read("cookie")
      File.rename("storage", "away")
      File.write("storage", "")
      before = [get("/figures").first, ask(browser, :get, "/sign_in"), ask(mine, :get, "/figures").first]
      during = { get: mine, delete: mine, post: browser }.map { |how, who| ask(who, how, "/sign_in").first }
      File.delete("storage")
      File.rename("away", "storage")
      [before, during, %i[get delete get].map { |how| ask(mine, how, "/sign_in") }]
    RUBY
    assert_equal [200, [200, "nil"], 200], before
    assert_equal [503] * 3, during
    assert_equal [[200, "1"], [204, ""], [200, "nil"]], after
    assert_match(/^Larder::OpenError \(.*#{storage} is a file, and no file can be in it: .*\)/, log)
  end

  test "a directory of root's stops neither the boot of another user nor requests that need no session" do
    skip "needs root" unless Process.euid.zero?
    File.chmod(0o755, directory)
    FileUtils.chown_R(NOBODY, NOBODY, root)
    Dir.mkdir(storage, 0o755)
    script = '[get("/figures").first, ask(browser, :get, "/sign_in"), ask(browser, :post, "/sign_in").first]'
    assert_equal [200, [200, "nil"], 503], in_shop(script, as: as_nobody)
    assert_match(/#{storage} belongs to root, and nobody, who runs .*, may not write to it: .*chown nobody /, log)
    File.chown(NOBODY, NOBODY, storage)
    assert_equal [200, [200, "nil"], 201], in_shop(script, as: as_nobody)
  end

  slow_test "a read-only file system stops neither, and its requests are answered by 503" do
    skip "needs root" unless Process.euid.zero?
    Dir.mkdir(storage)
    read_only = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o ro none "$0" && exec "$@"', storage]
    skip "no file systems can be mounted here" unless Open3.capture2e(*read_only, "true").last.success?

    assert_equal [[200, "nil"], 503], in_shop(<<~RUBY, as: read_only)
      [ask(browser, :get, "/sign_in"), ask(browser, :post, "/sign_in").first]
    RUBY
    assert_match(/#{storage} is on a read-only file system: name a file .* file: of the sessions/, log)
  end

  test "while the store of cache: does not answer, 503 says when to try again, and other pages are served" do
    lines = SESSIONS.sub('size: "2MB", ephemeral: true', 'cache: [:redis_cache_store, { url: "redis://127.0.0.1:1" }]')
    public_page, asked, made = in_shop(<<~RUBY, lines: lines)
      mine = browser
      mine.cookies["_session_id"] = "a" * 32
      headers = -> { mine.response.headers.values_at("retry-after", "set-cookie") }
      public_page = ask(mine, :get, "/figures").first
      [public_page, *%i[get post].map { |how| [ask(mine, how, "/sign_in").first, *headers.call] }]
    RUBY
    assert_equal [200, [503, "1", nil], [503, "1", nil]], [public_page, asked, made]
  end

  test "a sign-in for which the file has no room is answered by 503" do
    answers = in_shop(<<~RUBY)
      mine = browser
      before = ask(mine, :post, "/sign_in").first
      repository = Larder::Sessions.send(:statistics).instance_variable_get(:@repository)
      begin
        loop { repository.begin(Random.bytes(32), { "user_id" => Random.hex(8), "data" => "x" * 300 }) }
      rescue Larder::Sessions::NoRoomError
        nil
      end
      [before, ask(browser, :post, "/sign_in").first, ask(mine, :get, "/sign_in")]
    RUBY
    assert_equal [201, 503, [200, "1"]], answers
    assert_match(/^Larder::Sessions::NoRoomError \(.*larder resize --keep/, log)
  end
end
