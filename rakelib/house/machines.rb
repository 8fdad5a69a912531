# frozen_string_literal: true

# bin/demo --machines: three machines with a Redis behind them, one change that all of them hear of, and what happens
# while Redis is dead.

require "json"
require "open3"
require "rbconfig"
require "tmpdir"
require_relative "environment"

module House
  # Runs machines, each a process with a file of its own, and writes down what they answer.
  class Machines
    PROGRAM = File.join(__dir__, "machines/machine.rb")
    KEY = "price"
    # Seconds until a machine must have heard of something.
    PATIENCE = 15
    # Reads that are timed.
    READS = 20_000
    private_constant :PROGRAM, :KEY, :PATIENCE, :READS

    # @param count [Integer]
    # @param variables [Hash{String=>String}] of the environment of machines
    # @param notes [#call] told of each step
    def initialize(count, variables, notes)
      @count = count
      @variables = variables
      @notes = notes
      @rows = []
    end

    # @return [String] a table for people
    # @raise [Larder::CLI::Failure] Redis is not installed
    def report
      type = servers.fetch("redis")
      raise Larder::CLI::Failure, "Redis is needed (Debian: apt-get install redis-server)" unless type.path

      Dir.mktmpdir("larder-demo-") do |directory|
        @directory = directory
        @redis = type.new(File.join(directory, "redis").tap { |path| Dir.mkdir(path) }).tap(&:start)
        @machines = Array.new(@count) { |number| start(number) }
        play
      ensure
        @machines&.each { |input, _, wait| input.close && wait.value }
        @redis&.stop
      end
      table
    end

    private

    # The lab's, which finds Larder's own files on the load path.
    def servers
      $LOAD_PATH.unshift(File.join(ROOT, "lib"))
      require_relative "../../lab/lib/larder/lab/errors"
      require_relative "../../lab/lib/larder/lab/servers"
      Larder::Lab::Servers
    end

    def start(number)
      url = @redis.endpoint.fetch("url")
      input, output, wait = Open3.popen2(@variables, RbConfig.ruby, "-rbundler/setup", "-I#{File.join(ROOT, "lib")}",
                                         PROGRAM, File.join(@directory, "#{number + 1}.larder"), url, chdir: ROOT)
      [input, output, wait]
    end

    def ask(number, *words)
      input, output, = @machines[number]
      input.puts(JSON.generate(words))
      JSON.parse(output.gets || raise(Larder::CLI::Failure, "machine #{number + 1} has ended"))
    end

    def all(*words)
      Array.new(@count) { |number| ask(number, *words) }
    end

    def play
      all("ready", KEY)
      ask(0, "write", KEY, 10)
      row("machine 1 writes 10: all read it") { all("read", KEY) }
      row("a read of the copy takes") { all("time", KEY, READS).map { |seconds| micros(seconds) } }
      row("machine 1 writes 12: who has it, after") { change(12) }
      die
      row("Redis is killed: all read") { all("read", KEY) }
      row("then a read takes") { all("time", KEY, READS).map { |seconds| micros(seconds) } }
      ask(1, "delete", KEY)
      row("machine 2 deletes it: all read") { all("read", KEY) }
      revive
      row("Redis is back, with 12 in it: all read, after") { come_back }
    end

    def row(title)
      @notes.call(title)
      @rows << [title, *yield.map { |value| value.nil? ? "nothing" : value.to_s }]
    end

    # The others look for the value while machine 1 writes.
    def change(value)
      watchers = (1...@count).map { |number| Thread.new { ask(number, "await", KEY, value, PATIENCE) } }
      sleep(0.1) # until they watch
      written = ask(0, "write", KEY, value)
      [value, *watchers.map { |thread| "#{value} (#{format("%.1f", (thread.value - written) * 1000)} ms)" }]
    end

    def die
      Process.kill(:KILL, @redis.pid)
      @redis.stop
      all("alone", PATIENCE)
    end

    def revive
      @redis.start
      ask(0, "restore", KEY, 12)
    end

    def come_back
      begun = now
      sleep(0.05) until (found = all("read", KEY)).all?(&:nil?) || now - begun > PATIENCE
      found.map { |value| value.nil? ? "nothing (#{format("%.1f", now - begun)} s)" : value }
    end

    def micros(seconds)
      format("%.2f µs", seconds * 1_000_000)
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    def table
      rows = [["", *Array.new(@count) { |number| "machine #{number + 1}" }], *@rows]
      widths = rows.transpose.map { |column| column.map(&:size).max }
      lines = rows.map { |cells| cells.zip(widths).map { |cell, width| cell.ljust(width) }.join("  ").rstrip }
      "\n#{lines.join("\n")}\n\nEach machine is a process with a file of its own, and a Redis is behind them. What " \
        "was deleted\nwhile it was dead is deleted there before anybody reads it again.\n"
    end
  end
end
