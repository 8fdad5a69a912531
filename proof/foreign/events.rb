# frozen_string_literal: true

# The events in the life of an application.

require_relative "../../lib/larder/bytes/monotonic_clock"
require_relative "shell"

module Foreign
  # Each method is one event. It raises where Larder does not do as its documents say.
  class Events
    include Larder::MonotonicClock

    TITLES = {
      console: "a console and cron's jobs use the cache", commands: "an administrator uses larder's commands",
      both_releases: "two releases with different options serve at once", deploy: "a phased restart to release 2",
      rollback: "a phased restart back to release 1", kill_worker: "a worker is killed",
      kill_master: "the master is killed, and started again", full_disk: "the disk is full during a restart of workers",
      removed_file: "the cache's file is removed while the disk is full", resize: "the cache gets another size",
      clear: "the cache is emptied", sign_out: "the administrator ends a user's sessions",
      restart: "the server stops and starts"
    }.freeze
    ORDER = TITLES.keys.freeze
    FULL_SECONDS = 10

    # An event did not have its effect.
    class Wrong < StandardError; end

    # @param life [Life]
    def initialize(life)
      @life = life
    end

    def console
      [*Life::SIDES].each do |side|
        job(side, ["rails", "runner", console_program(side)])
        @life.application.class::JOBS.each { |argv| job(side, argv) }
      end
    end

    def commands
      raise Wrong, "larder stat counts no items" unless items.positive?

      keys = larder("keys", "--file", @life.cache_file, "--names", "--limit", "20").lines(chomp: true)
      raise Wrong, "larder keys lists nothing" if keys.empty?

      keys.first(5).each { |key| larder("get", "--file", @life.cache_file, key, may_fail: true) }
      gone = larder("delete", "--file", @life.cache_file, keys.first)
      raise Wrong, gone unless gone.include?("1 of 1") || gone.include?("0 of 1") # a user's request may be faster
      raise Wrong, "larder doctor cannot open it" unless larder("doctor", @life.cache_file,
may_fail: true).include?("it opens")

      larder("sessions", "stat")
    end

    def both_releases
      @life.with_second_servers(2) { sleep(15) }
    end

    def deploy
      phased(2)
    end

    def rollback
      phased(1)
    end

    def kill_worker
      Life::SIDES.each do |side|
        @life.changes.synchronize do
          server(side).kill_worker
          server(side).settle
        end
      end
    end

    def kill_master
      Life::SIDES.each do |side|
        @life.changes.synchronize do
          server(side).kill_master
          server(side).start
        end
      end
    end

    def full_disk
      taken = @life.disk.fill
      @life.note("#{taken >> 20} MiB have filled the disk")
      server("larder").phased_restart
      refused = larder("resize", @life.cache_file, "64MB", may_fail: true)
      raise Wrong, "larder resize worked on a full disk: #{refused}" if refused.include?("64.0 MiB now")

      @life.note("larder resize: #{refused.lines.last.to_s.strip[0, 160]}")
      sleep(FULL_SECONDS)
    ensure
      @life.disk.free
    end

    # Without room for a new file the application serves misses. With room the cache is back.
    def removed_file
      @life.disk.fill
      File.unlink(@life.cache_file)
      deadline = monotonic_now + FULL_SECONDS
      @life.disk.fill && sleep(0.5) while monotonic_now < deadline
      @life.disk.free
      await("the cache to be back") { File.size?(@life.cache_file).to_i >= Life::CACHE_SIZE }
      empty_the_other
    ensure
      @life.disk.free
    end

    def resize
      @life.note(larder("resize", @life.cache_file, "64MB").strip.lines.last.to_s.strip)
      await("items in the new file") { items.positive? }
      larder("resize", @life.cache_file, "48MB")
      await("items in the new file") { items.positive? }
      empty_the_other
    end

    def clear
      larder("clear", @life.cache_file)
      await("items again") { items.positive? }
      empty_the_other
    end

    # The last of the users signs in on Larder's side alone; no other browser uses the account.
    def sign_out
      browser = @life.browser
      user = @life.application.sign_in(browser)
      raise Wrong, "the administrator's user is not signed in" unless @life.application.signed_in?(browser)

      ended = larder("sessions", "logout", user)
      raise Wrong, "larder sessions logout: #{ended}" unless ended.match?(/\A[1-9]\d* sessions? of/)
      raise Wrong, "a session is open after its end" if @life.application.signed_in?(browser)
    end

    def restart
      Life::SIDES.each do |side|
        @life.changes.synchronize do
          server(side).stop
          server(side).start
        end
      end
    end

    private

    def server(side)
      @life.servers.fetch(side)
    end

    def phased(release)
      Life::SIDES.each do |side|
        server(side).release(@life.release(side, release))
        server(side).phased_restart
      end
    end

    def console_program(side)
      common = @life.application.class::CONSOLE
      return common if side == "default"

      "#{common}\nabort \"no session is active\" unless Larder::Sessions.active(last: 3600).positive?\n" \
        "abort \"no statistics\" unless Rails.cache.stats[:items].positive?\n"
    end

    def job(side, argv)
      Shell.output(["bundle", "exec", *argv], env: @life.env(side), dir: @life.release(side, 1))
      @life.findings.count("consoles and jobs")
    end

    # Applications cache pages that have no expiry and grow old, so both sides begin with an empty cache.
    def empty_the_other
      job("default", ["rails", "runner", @life.application.class::EMPTY])
    end

    # @return [String] what the command printed
    def larder(*arguments, may_fail: false)
      text, status = @life.larder(*arguments)
      raise Wrong, "larder #{arguments.join(" ")}: #{text}" unless status.success? || may_fail

      text
    end

    def items
      Integer(@life.figures.fetch("items"))
    end

    def await(what, seconds = 60)
      deadline = monotonic_now + seconds
      until yield
        raise Wrong, "waited #{seconds} s for #{what}" if monotonic_now > deadline

        sleep(0.5)
      end
    end
  end
end
