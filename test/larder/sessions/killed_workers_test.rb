# frozen_string_literal: true

require "test_helper"
require "larder/sessions"
require "support/puma_cluster"

module Larder
  module Sessions
    # Real browsers' tabs, as many sockets, at a real Puma whose workers are killed again and again.
    #
    # LARDER_SESSION_REQUESTS=100000 makes that number of requests; by default a few thousand.
    class KilledWorkersTest < ActiveSupport::TestCase
      REQUESTS = Integer(ENV.fetch("LARDER_SESSION_REQUESTS", "6000"))
      SESSIONS = 24
      TABS = %w[a b].freeze
      # Seconds between two kills.
      KILLS = (0.05..0.25)

      APPLICATION = <<~RUBY
        require "json"
        require "rack/session/larder"

        use Rack::Session::Larder, file: "sessions.larder", size: 8 << 20, key: "s"
        run(lambda do |env|
          request = Rack::Request.new(env)
          session = request.session
          session["user_id"] ||= request.params["user"]
          session[request.params["key"]] = request.params["value"].to_i if request.params["key"]
          body = JSON.generate(session.to_hash)
          [200, { "content-type" => "application/json", "content-length" => body.bytesize.to_s }, [body]]
        end)
      RUBY

      test "no change that was answered is lost, whoever is killed" do
        skip "needs /proc" unless File.directory?("/proc/self")

        Dir.mktmpdir("larder-puma") do |directory|
          puma = PumaCluster.new(directory, APPLICATION)
          sign_in(puma.socket)
          killed = under_fire(puma) { work(puma.socket) }
          check(puma.socket)
          assert_operator killed, :>, 0
          check_statistics(directory)
        ensure
          puma&.stop
        end
      end

      private

      def sign_in(socket)
        @cookies = Array.new(SESSIONS) do |i|
          PumaClient.new(socket).then { |client| client.get("/?user=#{i}") && client.cookie }
        end
      end

      # What each tab of each session was answered last: a number that only grows.
      def work(socket)
        @answered = Array.new(SESSIONS) { Hash.new(0) }
        threads = TABS.product([0, 1, 2]).map { |tab, third| Thread.new { browse(socket, tab, third) } }
        threads.each(&:value)
      end

      # One tab of a third of the sessions; every third request only reads.
      def browse(socket, tab, third)
        mine = (third...SESSIONS).step(3).to_a
        clients = mine.to_h { |i| [i, PumaClient.new(socket, cookie: @cookies[i])] }
        (REQUESTS / TABS.size / 3).times do |n|
          i = mine[n % mine.size]
          number = @answered[i][tab] + 1
          writes = n % 3 != 2
          answer = clients[i].get(writes ? "/?key=#{tab}&value=#{number}" : "/")
          raise "#{i} lost: #{answer}, answered #{@answered[i]}" unless answer["user_id"] == i.to_s
          raise "#{i} went back: #{answer}, answered #{@answered[i]}" if answer[tab].to_i < @answered[i][tab]

          @answered[i][tab] = number if writes
        end
      ensure
        clients&.each_value(&:close)
      end

      def under_fire(puma)
        random = Random.new(1)
        killed = 0
        killer = Thread.new do
          loop do
            sleep random.rand(KILLS)
            killed += 1 if puma.kill_one(random)
          end
        end
        yield
        killed
      ensure
        killer&.kill
        killer&.join
      end

      def check(socket)
        @cookies.each_with_index do |cookie, i|
          assert_equal({ "user_id" => i.to_s, **@answered[i] }, PumaClient.new(socket, cookie: cookie).get("/"))
        end
      end

      def check_statistics(directory)
        Sessions.use(Sessions.repository(file: File.join(directory, "sessions.larder"), size: 8 << 20))
        SESSIONS.times { |i| assert Sessions.logged_in?(i), i }
        Sessions.recount
        assert_equal SESSIONS, Sessions.active(last: 3600, signed_in: true)
      ensure
        Sessions.use(nil)
      end
    end
  end
end
