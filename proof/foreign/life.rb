# frozen_string_literal: true

# The life of an application on Larder, next to the same on its own store: users browse both at once, and in the middle
# come deploys, kills, a full disk and an administrator.

require "fileutils"
require "json"
require "open3"
require "rbconfig"
require_relative "../../lib/larder/bytes/monotonic_clock"
require_relative "../../rakelib/house/environment"
require_relative "disk"
require_relative "events"
require_relative "pair"
require_relative "server"

module Foreign
  # One run.
  class Life
    include Larder::MonotonicClock

    USERS = 4
    CACHE_SIZE = 48 << 20
    SESSIONS_SIZE = 16 << 20
    DISK_SIZE = 224 << 20
    # Options of Larder's store, by release. The second one stores other bytes than the first.
    RELEASES = [{ size: CACHE_SIZE },
                { size: CACHE_SIZE, compress: true, serializer: "marshal", expires_in: 3600 }].freeze
    SESSIONS = { size: SESSIONS_SIZE, idle_timeout: 7200 }.freeze
    SIDES = ["default", "larder"].freeze
    # The part of the lab that records, which applications load.
    RECORDER = File.join(House::ROOT, "lab/lib/larder/lab/record.rb")
    SETTLE = 1 # seconds between events at least

    # @return [Findings]
    attr_reader :findings

    # @return [Array<String>] what happened, in the order in which it did
    attr_reader :diary

    # @return [Application]
    attr_reader :application

    # @return [Hash{String => Server}] the servers that stay, by side
    attr_reader :servers

    # @return [Mutex] held while something changes, and by what kills servers
    attr_reader :changes

    # @return [Disk] where the files of Larder are
    attr_reader :disk

    # @param application [Application]
    # @param minutes [Numeric]
    # @param seed [Integer]
    # @param pause [Numeric] seconds that a user waits after each step of a visit
    # @param calm [Boolean] users browse, and nothing else happens
    # @param record [String, nil] a file for a trace of what the servers on Larder's side ask of their cache
    def initialize(application, minutes:, seed:, pause: 0, calm: false, record: nil)
      @application = application
      @seconds = minutes * 60
      @seed = seed
      @pause = pause
      @calm = calm
      @record = record
      @findings = Findings.new
      @turns = Turns.new
      @changes = Mutex.new
      @diary = []
      @directory = File.join(application.directory, "life")
      @servers = {}
      @more_ports = { "default" => [], "larder" => [] }
    end

    # @return [void]
    def run
      FileUtils.rm_rf(@directory)
      FileUtils.mkdir_p(@directory)
      @disk = Disk.new(File.join(@directory, "disk"), size: DISK_SIZE).mount
      start
      live
    ensure
      servers.each_value(&:stop)
      @disk&.unmount
    end

    # @param text [String]
    # @return [void]
    def note(text)
      line = format("%5d s  %s", monotonic_now - @started, text)
      warn "bin/foreign: #{line}"
      @diary << line
    end

    # @param side [String] "default" or "larder"
    # @return [Hash{String => String, nil}] variables of its processes
    def env(side)
      @application.variables("production").merge("FOREIGN_DATABASE" => File.join(@directory, side))
    end

    # @param side [String]
    # @param release [Integer] from 1 on
    # @return [String] directory of that copy
    def release(side, release)
      File.join(@application.directory, "#{side}-#{release}")
    end

    # @return [String] Larder's file of the cache
    def cache_file
      File.join(@disk.directory, "cache.larder")
    end

    # @return [String] Larder's file of the sessions
    def sessions_file
      File.join(@disk.directory, "sessions.larder")
    end

    # Runs a command of Larder's.
    #
    # @param arguments [Array<String>]
    # @return [Array(String, Process::Status)] all that it printed, and how it ended
    def larder(*arguments)
      @findings.count("larder's commands")
      argv = [RbConfig.ruby, "-I#{@application.larder}/lib", "#{@application.larder}/exe/larder", *arguments]
      Open3.capture2e(env("larder").merge("LARDER_SESSIONS" => sessions_file), *argv, stdin_data: "")
    end

    # @return [Hash{String => Object}] those of larder stat
    def figures
      JSON.parse(larder("stat", cache_file, "--json").first)
    end

    # A second server of a side, as a deploy of another kind has it: both are asked while the block runs.
    #
    # @param release [Integer] which copy they serve
    # @yield while they live
    # @return [void]
    def with_second_servers(release)
      extra = SIDES.to_h { |side| [side, server("second-#{side}", side, release, workers: 1).start] }
      extra.each { |side, server| @more_ports[side] = [server.port] }
      yield
    ensure
      SIDES.each { |side| @more_ports[side] = [] }
      sleep(2) # requests that are under way
      extra&.each_value(&:stop)
    end

    # A browser of an administrator's own, on Larder's side alone.
    #
    # @return [Browser]
    def browser(side = "larder")
      Browser.new(-> { ports(side) }, headers: @application.class.method(:headers))
    end

    private

    def start
      SIDES.each do |side|
        FileUtils.cp_r(@application.seeded, File.join(@directory, side))
        files = side == "larder" ? @disk.directory : File.join(@directory, "default-files")
        RELEASES.each_with_index do |cache, index|
          @application.copy("#{side}-#{index + 1}", side: side, files: files, cache: cache,
sessions: { **SESSIONS, **@application.class::SESSIONS })
        end
        @servers[side] = server(side, side, 1)
        @servers[side].start
      end
      @started = monotonic_now
    end

    def server(name, side, release, workers: 2)
      Server.new(name, copy: release(side, release), env: env(side).merge(recording(side)), directory: @directory,
                       workers: workers, preload: !@record.nil?)
    end

    # @return [Hash{String => String}] variables of record.rb
    def recording(side)
      side == "larder" && @record ? { "FOREIGN_RECORD" => @record, "FOREIGN_RECORDER" => RECORDER } : {}
    end

    def live
      threads = (1..USERS).map { |number| Thread.new { browse(number) } }
      note("#{USERS} users browse both sides")
      happen unless @calm
      sleep([@seconds - (monotonic_now - @started), 0].max)
      @over = true
      threads.each(&:join)
      note("the users have left")
      summarize
    ensure
      @over = true
    end

    def summarize
      counted = figures
      note(format("Larder's cache since its file was made: %<hits>d hits, %<misses>d misses, %<items>d items",
                  counted.transform_keys(&:to_sym)))
      note("memory of servers: #{SIDES.map { |side| "#{side} #{servers.fetch(side).memory >> 20} MiB" }.join(", ")}")
    end

    # A user who gives up is a failure, and another takes the place.
    def browse(number)
      user(number)
    rescue StandardError => e
      note("FAILED: a user gave up: #{e.class}: #{e.message}")
      @findings.differ("a user gave up: #{e.full_message(highlight: false)}")
      sleep(SETTLE)
      retry unless @over
    end

    def user(number)
      browsers = SIDES.map do |side|
        Browser.new(-> { ports(side) }, random: Random.new(number), headers: @application.class.method(:headers))
      end
      pair = Pair.new(browsers, turns: @turns, changes: @changes, findings: @findings,
                                random: Random.new(@seed + number),
                                stale: @application.class::STALE_SECONDS, varying: @application.class::VARYING)
      @application.class::VISITS.new(pair, number + 1, pause: @pause).browse { !@over }
      @findings.count("requests cut off by a kill and sent again", pair.cut)
    end

    # The events share the time evenly. One that fails does not keep the others from happening.
    def happen
      events = Events.new(self)
      names = Events::ORDER
      names.each_with_index do |name, index|
        pause = (@seconds * (index + 1) / (names.size + 1.0)) - (monotonic_now - @started)
        sleep([pause, SETTLE].max)
        note("#{Events::TITLES.fetch(name)} …")
        events.public_send(name)
        @findings.count("events")
      rescue StandardError => e
        note("FAILED: #{e.message}")
        @findings.differ("#{name}: #{e.class}: #{e.message}")
      end
    end

    def ports(side)
      [@servers.fetch(side).port, *@more_ports.fetch(side)]
    end
  end
end
