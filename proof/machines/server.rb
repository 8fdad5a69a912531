# frozen_string_literal: true

# A Redis that can be killed, stopped, and started again empty or from an old snapshot, with a record of what it had
# when, see {Timeline}.

require "fileutils"
require "redis_client"
require_relative "../../lab/lib/larder/lab/errors"
require_relative "../../lab/lib/larder/lab/servers"
require_relative "setting"

module MachineProof
  # One server of a run, on a port of the loopback interface.
  class Server < Larder::Lab::Servers::RedisLoopback
    SNAPSHOT = "dump.rdb"
    private_constant :SNAPSHOT

    # Until when it ran, from when on, and from which snapshot: times before and after each.
    Life = Struct.new(:starts, :ends, :gone, :snapshot)
    # Bytes in a file, the number of their life, and the times before and after they were taken.
    Snapshot = Struct.new(:path, :life, :began, :ended)

    class << self
      # As of the server that has this name.
      def path = superclass.path
      def binary = superclass.binary
      def remedy = superclass.remedy
    end

    # `flushes` and `stops`: pairs of times between which everything was deleted, and between which it was stopped.
    Record = Struct.new(:lives, :flushes, :stops)

    # @return [Integer]
    attr_reader :port
    # @return [Record]
    attr_reader :record

    # @param dir [String]
    def initialize(dir, **)
      FileUtils.mkdir_p(dir)
      super
      @record = Record.new([], [], [])
      @snapshots = []
    end

    # @return [Array<String>]
    def arguments
      [*super, "--dbfilename", SNAPSHOT, "--enable-debug-command", "no"]
    end

    # @param from [Snapshot, nil] nil: empty
    # @return [void]
    def begin_life(from = nil)
      from ? FileUtils.cp(from.path, File.join(dir, SNAPSHOT)) : FileUtils.rm_f(File.join(dir, SNAPSHOT))
      @record.lives << Life.new(Setting.now, Float::INFINITY, Float::INFINITY, from)
      start
    end

    # @return [void]
    def kill
      return unless lives?

      resume
      life = @record.lives.last
      life.ends = Setting.now
      Process.kill(:KILL, pid)
      stop
      life.gone = Setting.now
    end

    # @return [Boolean]
    def lives?
      @record.lives.last && @record.lives.last.ends == Float::INFINITY
    end

    # Starts it with what it had at some time before.
    #
    # @param which [Float] from 0 for the oldest of its snapshots to 1 for the latest
    # @return [void]
    def go_back(which)
      begin_life(@snapshots[(which * @snapshots.size).floor])
    end

    # @return [void]
    def take_snapshot
      return unless answers_commands?

      began = Setting.now
      call("SAVE")
      path = File.join(dir, "snapshot-#{@snapshots.size}")
      FileUtils.cp(File.join(dir, SNAPSHOT), path)
      @snapshots << Snapshot.new(path, @record.lives.size - 1, began, Setting.now)
    end

    # @return [void]
    def flush
      return unless answers_commands?

      began = Setting.now
      call("FLUSHALL")
      @record.flushes << [began, Setting.now]
    end

    # @return [void]
    def suspend
      return unless answers_commands?

      @record.stops << [Setting.now, Float::INFINITY]
      Process.kill(:STOP, pid)
    end

    # @return [void]
    def resume
      return unless stopped?

      Process.kill(:CONT, pid)
      @record.stops.last[1] = Setting.now
    end

    # Sends a text to all who listen to any channel of Larder's.
    #
    # @param text [String]
    # @return [void]
    def publish(text)
      return unless answers_commands?

      call("PUBSUB", "CHANNELS", "*larder*").each { |channel| call("PUBLISH", channel, text) }
    end

    # @return [String]
    def url
      "redis://127.0.0.1:#{port}/0"
    end

    private

    def stopped?
      @record.stops.last && @record.stops.last[1] == Float::INFINITY
    end

    def answers_commands?
      lives? && !stopped?
    end

    def call(*command)
      client = RedisClient.new(url: url, timeout: 10)
      client.call(*command)
    ensure
      client&.close
    end
  end
end
