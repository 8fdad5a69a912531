# frozen_string_literal: true

# Makes demo.trace: starts the demonstration application (bin/demo) with the recorder, and visits it for a minute.
# Readers come at random times, and most of them look at few recipes, as Zipf's law has it. The path of another file may
# be given.

require "English"
require "net/http"
require "tmpdir"

SECONDS = 60
VISITS_PER_SECOND = 40
READERS = 4
SKEW = 0.8
PORT = 4711
ROOT = File.expand_path("../..", __dir__)
RANDOM = Random.new(62)

file = File.expand_path(ARGV.first || File.join(__dir__, "demo.trace"))
abort "#{file} exists; remove it first" if File.exist?(file)

# Answers a page, or nil while the application does not answer.
def get(http, path)
  http.request_get(path).body.force_encoding(Encoding::UTF_8)
rescue SystemCallError, IOError
  nil
end

# The name of every recipe, the popular ones first.
def names(http)
  ("a".."z").flat_map do |letter|
    pages = (1..100).lazy.map { |page| get(http, "/rezept/letter/#{letter}?page=#{page}").to_s }
    pages.map { |page| page.scan(%r{href="/rezept/([a-z]{5,})"}) }.take_while(&:any?).to_a.flatten
  end.uniq.shuffle(random: RANDOM)
end

# Paths and when they are visited, in seconds.
def visits(names)
  weights = Array.new(names.size) { |rank| 1.0 / ((rank + 1)**SKEW) }
  sums = weights.inject([]) { |all, weight| all << (all.last.to_f + weight) }
  at = 0.0
  Array.new(SECONDS * VISITS_PER_SECOND) do
    at += -Math.log(1 - RANDOM.rand) / VISITS_PER_SECOND
    name = names[sums.bsearch_index { |sum| sum >= RANDOM.rand(sums.last) } || 0]
    [at, RANDOM.rand(10).zero? ? "/rezept/index" : "/rezept/#{name}"]
  end
end

Dir.mktmpdir("larder-lab-demo-") do |dir|
  variables = { "TRACE" => file, "RECIPES_STORAGE" => dir, "RECIPES_REQUIRE" => File.join(__dir__, "recorder.rb") }
  server = spawn(variables, File.join(ROOT, "bin/demo"), "--port", PORT.to_s, "--workers", "2", out: :err)
  begin
    http = Net::HTTP.new("127.0.0.1", PORT)
    until get(http, "/empty/index")
      abort "bin/demo has ended" if Process.wait(server, Process::WNOHANG)
      sleep(0.2)
    end
    queue = Thread::Queue.new
    visits(names(http)).each { |visit| queue << visit }
    queue.close
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    Array.new(READERS) do
      Thread.new do
        Net::HTTP.start("127.0.0.1", PORT) do |own|
          while (at, path = queue.pop)
            wait = began + at - Process.clock_gettime(Process::CLOCK_MONOTONIC)
            sleep(wait) if wait.positive?
            get(own, path) || warn("#{path} was not answered")
          end
        end
      end
    end.each(&:join)
    sleep(6) # until the recorder has written
  ensure
    Process.kill(:TERM, server) && Process.wait(server) unless $CHILD_STATUS
  end
end
warn "#{file}: #{File.size(file)} bytes"
