# frozen_string_literal: true

# Serves the recipes application by Puma twice: with the statistics of its cache, and without. Both answer the same
# requests of one client, in turns. Then the first is asked for its dashboard and its metrics. The sum of all is what an
# application loses whose dashboard is open in a browser and whose metrics are scraped.
#
# usage: measure.rb PASSES SECONDS DIRECTORY; prints JSON lines: figure, unit, rounds

require "json"
require "net/http"
require "socket"
require "tmpdir"
require_relative "../../rakelib/house/environment"

# One server, its storage and its client.
class Served
  APPLICATION = File.join(House::ROOT, "examples/recipes")
  PAGES = %w[/rezept/index /rezept/myknzlpzl /rezept/show/713 /rezept/letter/G /welcome/index].freeze
  # The pages of a browser that shows the dashboard, and of Prometheus, and the seconds between their requests.
  WATCHERS = { "/larder" => 5, "/metrics" => 15 }.freeze
  SIZE = 64 << 20
  BOOT_SECONDS = 60

  # @param name [String]
  # @param directory [String]
  # @param statistics [Boolean]
  def initialize(name, directory, statistics:)
    storage = File.join(directory, name)
    Dir.mkdir(storage)
    @port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    store = ["larder_store", "#{storage}/cache.larder", { size: SIZE, expires_in: 3600, statistics: statistics }]
    @variables = House::Environment.variables(File.join(APPLICATION, "Gemfile")).merge(
      "PORT" => @port.to_s, "RAILS_ENV" => "production", "RECIPES_STORAGE" => storage,
      "RECIPES_CACHE_STORE" => JSON.generate(store)
    )
  end

  # Answers as soon as it serves pages.
  # @return [void]
  # @raise [RuntimeError] if it does not
  def start
    run("bundle", "exec", "ruby", "bin/prepare")
    @pid = Process.spawn(@variables, "bundle", "exec", "puma", "--silent", "--config", "config/puma.rb", "config.ru",
                         chdir: APPLICATION, out: File::NULL)
    @client = connected
    PAGES.cycle(20) { |page| get(page) }
  end

  # @param seconds [Float]
  # @return [Array(Float, Float)] microseconds of the server's processor time, and of the clock, for each page
  def turn(seconds)
    started = now
    cpu = cpu_now
    pages = serve(seconds)
    [(cpu_now - cpu) / 1e3 / pages, (now - started) * 1e6 / pages]
  end

  # @param path [String]
  # @return [Float] microseconds of processor time
  def asked(path)
    cpu = cpu_now
    get(path)
    (cpu_now - cpu) / 1e3
  end

  # @return [void]
  def stop
    @client&.finish
    return unless @pid

    Process.kill(:KILL, @pid) # asked to end, Puma's threads may wait for each other (puma/puma#3677)
    Process.wait(@pid)
  end

  private

  def run(*command)
    system(@variables, *command, chdir: APPLICATION, out: File::NULL) or raise "#{command.join(" ")} failed"
  end

  def connected
    deadline = now + BOOT_SECONDS
    begin
      Net::HTTP.start("127.0.0.1", @port)
    rescue Errno::ECONNREFUSED
      raise "Puma did not answer within #{BOOT_SECONDS} s" if now > deadline

      sleep 0.1
      retry
    end
  end

  def serve(seconds)
    until_ = now + seconds
    pages = 0
    while now < until_
      PAGES.each { |page| get(page) }
      pages += PAGES.size
    end
    pages
  end

  # Keeps the session of the first answer, as a browser does.
  def get(path)
    answer = @client.get(path, { "Cookie" => @cookie }.compact)
    raise "#{path}: #{answer.code}" unless answer.code == "200"

    @cookie = answer["set-cookie"].slice(/\A[^;]+/) if answer["set-cookie"]
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  # Nanoseconds of the process: the kernel's clock of it, see clock_getcpuclockid(3).
  def cpu_now
    Process.clock_gettime((~@pid << 3) | 2, :nanosecond)
  end
end

passes, seconds, directory = ARGV.values_at(0, 1, 2)
show = ->(figure, unit, rounds) { puts(JSON.generate(figure: figure, unit: unit, rounds: rounds)) }
Dir.mktmpdir("watched", directory) do |place|
  rows = { "with statistics" => true, "without" => false }
  servers = rows.to_h { |name, statistics| [name, Served.new(name.tr(" ", "-"), place, statistics: statistics)] }
  begin
    servers.each_value(&:start)
    rounds = Array.new(Integer(passes)) do
      turns = [*servers.keys, *servers.keys.reverse].map { |name| [name, servers[name].turn(Float(seconds))] }
      turns.group_by(&:first).transform_values { |all| all.map(&:last).transpose.map { |values| values.sum / 2 } }
    end
    shares = ["processor time of a page", "time of a page"].each_with_index.map do |what, at|
      times = rows.keys.to_h { |name| [name, rounds.map { |round| round[name][at] }] }
      times.each { |name, values| show.call("#{what}, #{name}", "us", values) }
      times.values.transpose.map { |with, without| with / without }.tap do |ratios|
        show.call("#{what}, with statistics as without", "x", ratios)
      end
    end
    watched = Served::WATCHERS.map do |path, interval|
      times = rounds.map { servers["with statistics"].asked(path) }
      show.call("processor time of #{path}", "us", times)
      times.map { |time| time / 1e6 / interval }
    end
    lost = shares.first.zip(*watched).map { |ratio, *parts| 100 * (ratio - 1 + parts.sum) }
    show.call("processor time of the application that statistics, dashboard and metrics take", "%", lost)
  ensure
    servers.each_value(&:stop)
  end
end
