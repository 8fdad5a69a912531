# frozen_string_literal: true

require "test_helper"
require "active_support/cache"
require "rack/session/larder"
require "rack/mock"
require "support/environment"
require "larder/sessions/settings"

module Rack
  module Session
    # The middleware is made without its file, which is opened by the first request that needs a session.
    class LarderOpeningTest < ActiveSupport::TestCase
      include TemporaryCaches
      include Processes
      include Environment

      # What the application does with a request.
      setup do
        directory # the same in children
        @does = ->(session) { session["count"] = session["count"].to_i + 1 }
        @path = path_of("place/sessions.larder")
      end

      test "a middleware, and requests that neither have a session nor write one, make no file" do
        [->(_) {}, ->(session) { session["nobody"] }, ->(session) { session.delete("nobody") }].each do |does|
          @does = does
          assert_equal 200, get.status
        end
        @does = ->(_) {}
        assert_equal 200, get(cookie: "rack.session=#{"a" * 64}").status, "a session that nobody asks for"
        assert_not ::File.exist?(::File.dirname(@path))
      end

      test "the first session makes it" do
        first = get
        assert_path_exists @path
        assert_equal %w[1 2], [first.body, get(first).body]
      end

      test "the first use writes down how sessions live" do
        @options = { idle_timeout: 7200 }
        get(cookie: "rack.session=#{"a" * 64}", does: ->(session) { session["nobody"] })
        assert_equal 7200.0, settings.lifetimes.idle
        @app = nil
        @options = { idle_timeout: 3600 }
        app
        assert_equal 7200.0, settings.lifetimes.idle, "before the use"
        get(cookie: "rack.session=#{"a" * 64}", does: ->(session) { session["nobody"] })
        assert_equal 3600.0, settings.lifetimes.idle
      end

      test "a middleware that was made before a fork opens the file in each child, and all share it" do
        app
        first, count = in_child { [cookie(answer = get), answer.body] }
        assert_equal %w[1 2 3], [count, in_child { get(cookie: first).body }, get(cookie: first).body]
      end

      test "while the file cannot be opened each request that needs its session fails, and says why" do
        first = get
        block
        asked = -> { get(first) }
        written = -> { get }
        [asked, written, asked, written].each do |request|
          error = assert_raises(::Larder::OpenError, &request)
          assert_match(%r{place is a file, .*, such as \S+/cache\.larder\z}, error.message)
          assert_no_match(/\\x/, error.message, "no key")
        end
      end

      test "while it cannot be opened requests that need no session are answered" do
        first = get
        block
        @does = ->(_) { "here" }
        assert_equal %w[here here], [get.body, get(first).body]
        @does = ->(session) { session["user_id"].inspect }
        assert_equal "nil", get.body
      end

      test "a sign-out is not taken for done while it cannot be applied, and neither is a sign-in" do
        first = get(does: ->(session) { session["user_id"] = 1 })
        block
        [:destroy.to_proc, ->(session) { session.options[:drop] = true },
         ->(session) { session["user_id"] = 2 }].each do |does|
          assert_raises(::Larder::OpenError) { get(first, does: does) }
          assert_raises(::Larder::OpenError) { ::Larder::Sessions.logout(1) }
        end
        assert_raises(::Larder::OpenError) { ::Larder::Sessions.logged_in?(1) }
        unblock
        assert_equal "1", get(first, does: ->(session) { session["user_id"] }).body
        assert_equal 1, ::Larder::Sessions.logout(1)
        assert_equal "", get(first, does: ->(session) { session["user_id"] }).body
      end

      test "it goes on with the sessions that are there as soon as the file can be opened, without a restart" do
        first = get
        block
        assert_raises(::Larder::OpenError) { get(first) }
        unblock
        assert_equal "2", get(first).body
      end

      test "nor is it where the file is lost while the application runs, and cannot be made anew" do
        @options = { backed_by: :memory_store }
        first = get(does: ->(session) { session["user_id"] = 1 })
        ::File.truncate(@path, 0)
        ::File.rename(::File.dirname(@path), path_of("away"))
        ::File.write(::File.dirname(@path), "")
        assert_raises(::Larder::OpenError) { ::Larder::Sessions.logged_in?(1) }
        [->(session) { session["user_id"] }, :destroy.to_proc].each do |does|
          assert_raises(::Larder::OpenError) { get(first, does: does) }
        end
        ::File.delete(::File.dirname(@path))
        assert_equal "1", get(first, does: ->(session) { session["user_id"] }).body, "from the store behind"
        get(first, does: :destroy.to_proc)
        assert_equal "", get(first, does: ->(session) { session["user_id"] }).body
      end

      test "so does a store behind the file: whether a session was ended stands in the file alone" do
        @options = { backed_by: (behind = ActiveSupport::Cache::MemoryStore.new) }
        first = get
        second = get
        get(first, does: :destroy.to_proc)
        block
        kept = behind.instance_variable_get(:@data).keys
        [first, second].each { |answer| assert_raises(::Larder::OpenError) { get(answer) } }
        assert_equal kept, behind.instance_variable_get(:@data).keys
        unblock
        assert_equal %w[1 2], [get(first).body, get(second).body]
      end

      test "a request waits for a process that is opening the file, and takes no session for gone" do
        first = get
        leave
        reader, writer = IO.pipe
        opener = fork do
          lock = ::File.open("#{@path}.lock", "r+")
          lock.fcntl(38, [1, 0, 0, 1, 0].pack("s!s!x4q!q!l!x4")) # F_OFD_SETLKW of the byte that openers hold
          writer.puts "held"
          sleep 0.3
          exit!(0)
        end
        reader.gets
        @options = { ephemeral: true }
        assert_equal "2", get(first).body
      ensure
        ::Process.wait(opener) if opener
      end

      test "a file of another user's is named, with who runs the process and the command" do
        skip "needs root" unless ::Process.euid.zero?
        ::File.chmod(0o777, directory)
        @path = path_of
        first = cookie(get)
        leave
        message = in_child do
          become_nobody
          get(cookie: first)
        rescue ::Larder::OpenError => e
          e.message
        end
        assert_match(/#{@path} belongs to root, and this process runs as nobody: .*chown nobody #{@path} /, message)
      end

      test "with a directory of root's another user's requests are answered, and sessions go on once it is theirs" do
        skip "needs root" unless ::Process.euid.zero?
        ::File.chmod(0o755, directory)
        Dir.mkdir(::File.dirname(@path), 0o755)
        app
        asked, answer = Array.new(2) { IO.pipe }
        child = Thread.new do
          in_child do
            become_nobody
            before = [get(does: ->(_) { "here" }).body, (get rescue $!.message)] # rubocop:disable Style/RescueModifier
            asked.last.puts("changed?")
            answer.first.gets
            [*before, get.body]
          end
        end
        asked.first.gets
        ::File.chown(65_534, 65_534, ::File.dirname(@path))
        answer.last.puts("changed")
        here, message, body = child.value
        assert_equal %w[here 1], [here, body]
        assert_match(/place belongs to root, and nobody, who runs .*, may not write to it: .*chown nobody /, message)
        assert_equal 65_534, ::File.stat(@path).uid
      end

      test "a path that no file can have stops no boot, and is told" do
        Dir.mkdir(path_of("directory"))
        { "/#{"a" * 5000}" => /Name a file by fewer characters/,
          path_of("directory") => /is a directory: name a file in it/,
          path_of("a" * 255) => /Name a file by fewer characters/ }.each do |path, told|
          @app = nil
          @path = path
          assert_equal "here", get(does: ->(_) { "here" }).body
          assert_match(told, assert_raises(::Larder::OpenError) { get }.message)
        end
      end

      test "neither does a working directory that was removed" do
        @path = "sessions.larder"
        message = in_child do
          Dir.mkdir(path_of("gone"))
          Dir.chdir(path_of("gone"))
          Dir.rmdir(path_of("gone"))
          get(does: ->(_) { "here" })
          get
        rescue ::Larder::OpenError => e
          e.message
        end
        assert_match(/the working directory was removed/, message)
      end

      test "wrong arguments are raised when the middleware is made" do
        assert_raises(::Larder::InvalidArgument) { Larder.new(nil, file: @path, idle_timeout: 0) }
        assert_raises(::Larder::InvalidArgument) { Larder.new(nil, file: @path, size: "big") }
        error = assert_raises(::Larder::OpenError) { Larder.new(nil, file: @path, size: 17) }
        assert_match(/size 17 is not between/, error.message)
      end

      private

      def app
        @app ||= Larder.new(->(env) { [200, {}, [@does.call(env["rack.session"]).to_s]] },
                            { file: @path, size: SIZE, **@options.to_h })
      end

      # @param before [Rack::MockResponse, nil] whose cookie is sent
      def get(before = nil, cookie: before && cookie(before), does: nil)
        @does = does if does
        MockRequest.new(app).get("/", cookie ? { "HTTP_COOKIE" => cookie } : {})
      ensure
        @does = ->(session) { session["count"] = session["count"].to_i + 1 } if does
      end

      def cookie(answer)
        answer["set-cookie"].to_s[/\A[^;]+/]
      end

      # A file where the directory should be: no user gets by it.
      def block
        ::Larder::Sessions.use(nil) # as after a restart
        place = ::File.dirname(@path)
        leave
        ::File.rename(place, "#{place}.away")
        ::File.write(place, "")
      end

      def unblock
        place = ::File.dirname(@path)
        ::File.delete(place)
        ::File.rename("#{place}.away", place)
      end

      # As when the last process ends. The next request begins another.
      def leave
        app.repository.backend.cache.close
        @app = nil
      end

      def settings
        ::Larder::Cache.open(@path, size: SIZE) { |cache| ::Larder::Sessions::Settings.read(cache) }
      end

      def become_nobody
        ::Process::GID.change_privilege(65_534)
        ::Process::UID.change_privilege(65_534)
      end
    end
  end
end
