# frozen_string_literal: true

require "etc"
require_relative "../bench/callers"
require_relative "../histogram"

module Larder
  module Lab
    module Suites
      # Has the threads of several processes want one key at one moment, kills a process while it computes the value,
      # and reads a value again and again while it expires. Times are seconds of the monotonic clock, which all
      # processes share.
      class Stampede
        include Clock

        # Options of calls for a key that is absent, and for one that soon expires: memcached counts whole seconds.
        ABSENT = { expires_in: 60, race_condition_ttl: Contenders::SingleFlights::STALE }.freeze
        EXPIRING = { expires_in: 1, race_condition_ttl: Contenders::SingleFlights::STALE }.freeze
        VALUE = "Hello World!"
        # Keys that are wanted in a session, and seconds from the end of a computation to the next key.
        KEYS = 3
        PAUSE = 0.35
        # The process that is killed begins earlier, by this share of the computation.
        LEAD = 0.2
        # Seconds of reading. The value expires once or twice in that time.
        READING = 1.8
        # Reads are counted by when they began, in slices of this many seconds.
        SLICE = 0.005

        # The least and the most of figures that have one number for each key.
        def self.range(processes, name) = processes.flat_map { |process| process[name] }.minmax.uniq.join("–")

        # The sum of one figure divided by that of another.
        def self.share(processes, part, whole)
          parts, wholes = [part, whole].map { |name| processes.sum { |process| process[name] } }
          parts.fdiv(wholes) if wholes.positive?
        end

        def initialize(scene)
          @store = scene.store
          @processes, @threads = scene.settings.values_at(:processes, :threads)
          @seconds = scene.settings[:block_ms] / 1000.0
        end

        # All callers want a key at once, and then the next one.
        def absent
          all = Bench::Callers.all(@processes, ready: method(:connect)) { |_, start| rushes("absent", start) }
          told(all.transpose)
        end

        # As {absent}; a process that began to compute before is killed at a random moment of it. A key shows nothing
        # if that process did not die, because another began before it.
        def killed
          lead = @seconds * LEAD
          answers = Bench::Callers.run(@processes + KEYS, ready: method(:connect)) do |number, start|
            dying = number - @processes
            dying.negative? ? rushes("killed", start + lead) : die(["killed", dying], time_of(dying, start), lead)
          end
          rushed, died = answers.first(@processes), answers.last(KEYS)
          raise Invalid, "a process that waited for the value ended early" if rushed.any?(&:nil?)

          told(rushed.transpose.reject.with_index { |_, number| died[number] })
        end

        # Processes, as many as cores, read a value while it expires.
        def expired
          @store.write("expiring", VALUE, **EXPIRING)
          readers = [@processes, Etc.nprocessors].min
          answers = Bench::Callers.all(readers, ready: method(:connect)) { |_, start| read(start) }
          runs = answers.flat_map { |answer| answer["runs"] }
          during, plain = answers.flat_map { |answer| answer["slices"] }.partition { |at, _| within?(at, runs) }
          during, plain = [during, plain].map { |slices| Histogram.of(slices, 1) }
          { "calls" => during.count + plain.count, "seconds" => during.mean || plain.mean,
            "figures" => { "plain" => plain.to_h, "during" => during.to_h, "runs" => runs.size,
                           "expiries" => united(runs) } }
        end

        private

        # With each thread, for each has a connection.
        def connect
          @store.write("warm", VALUE)
          Array.new(@threads) { Thread.new { @store.read("warm") } }.each(&:join)
          GC.start
        end

        def time_of(number, start) = start + (number * (@seconds + PAUSE))

        # For each key, of each caller: its wait, its processor time, the answer, and what its block made, if that
        # ran: another value each time; nil for a key that comes too late.
        def rushes(name, start)
          Array.new(KEYS) do |number|
            begin_at = time_of(number, start)
            next if now > begin_at

            threads = Array.new(@threads) { |thread| Thread.new { call([name, number], begin_at, thread) } }
            threads.map(&:value)
          end
        end

        def call(key, start, thread)
          made = nil
          Bench::Callers.wait_until(start)
          begun, busy = now, processor_time
          value = @store.fetch(key, **ABSENT) do
            sleep(@seconds)
            made = "#{Process.pid} #{thread}"
          end
          [now - begun, processor_time - busy, value, made]
        end

        def die(key, start, lead)
          Bench::Callers.wait_until(start)
          @store.fetch(key, **ABSENT) do
            sleep(Random.new.rand(lead..@seconds)) # each process has a seed of its own
            Process.kill(:KILL, Process.pid)
            sleep
          end
          true
        end

        # Back to back, once at least.
        def read(start)
          slices = Hash.new { |all, at| all[at] = Histogram.new }
          runs = []
          Bench::Callers.wait_until(start)
          until (begun = now) > start + READING
            value = @store.fetch("expiring", **EXPIRING) { compute(runs) }
            slices[(begun / SLICE).floor].record(((now - begun) / Histogram::SECONDS).round)
            raise Invalid, "a wrong value: #{value.inspect} instead of #{VALUE.inspect}" unless value == VALUE
          end
          { slices: slices.transform_values(&:to_h).to_a, runs: runs }
        end

        # Some stores run the block in another thread.
        def compute(runs)
          begun = now
          sleep(@seconds)
          runs << [begun, now]
          VALUE
        end

        def processor_time = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)

        def told(keys)
          keys = keys.select(&:all?).map { |processes| counted(processes.flatten(1)) }
          raise Unavailable, "this machine is too busy for this number of callers" if keys.empty?

          waits = Histogram.merge(keys.map { |key| key.delete("waits") })
          lists = %w[runs answers none].to_h { |name| [name, keys.map { |key| key[name] }] }
          { "calls" => waits.count, "seconds" => waits.mean,
            "figures" => { **lists, "waits" => waits.to_h, "busy" => keys.sum { |key| key["busy"] },
                           "waited" => keys.sum { |key| key["waited"] } } }
        end

        # runs: of the block; answers: different values; none: callers who got no value; waits: of the others; busy
        # and waited: seconds of those who got a value that another computed.
        def counted(callers)
          none, answered = callers.partition { |_, _, value, _| value.to_s.empty? }
          made = callers.filter_map(&:last)
          strange = answered.find { |_, _, value, _| !made.include?(value) }
          raise Invalid, "a wrong value: #{strange[2].inspect}, which no block made" if strange

          served = answered.reject(&:last)
          waits = Histogram.new
          answered.each { |caller| waits.record((caller.first / Histogram::SECONDS).round) }
          { "runs" => made.size, "answers" => answered.map { |each| each[2] }.uniq.size, "none" => none.size,
            "waits" => waits, "busy" => served.sum { |each| each[1] }, "waited" => served.sum(&:first) }
        end

        def within?(slice, runs)
          runs.any? { |first, last| slice.between?((first / SLICE).floor, (last / SLICE).floor) }
        end

        # The number of runs, if those that overlap are one: all take the same time.
        def united(runs) = runs.sort.slice_when { |one, other| other.first > one.last }.count
      end

      register("stampede", Bench::Suite.define("stampede") do
        title "Many callers want one key"
        command "stampede", "how often a value is computed that many callers want at once, and their waits", <<~TEXT
          Several processes with several threads each call, at the same moment,
            Rails.cache.fetch(key, expires_in: 60) { sleep 0.05; value }
          absent   How often does the block run, and how long do callers wait? "no value"
                   counts nil and empty answers.
          killed   The process that runs the block is killed, where one caller computes:
                   larder-single-flight and memcached-lock.
          expired  As many processes as cores read a value while it expires.
        TEXT
        question "How often is a value computed that many callers want at once, and how long do they wait?"
        registry Contenders::SingleFlights
        usual { [*Contenders::SingleFlights.own, "larder", "memory", "file", "redis", "solid_cache"] }
        sessions 3
        setting :processes, 4, "processes that call"
        setting :threads, 25, "threads of each"
        setting :block_ms, 50.0, "time that the value takes", most: 1000

        { absent: ["the key is absent", "for each key, the least and the most; times in ms",
                   "Computations of an absent key that all callers want"],
          killed: ["the process that computes is killed", "without the computation that was killed; times in ms",
                   "Computations after the process that computed was killed"] }.each do |key, (title, about, sentence)|
          block(key, title, alone: true, unit: "caller", about: about) do
            setup do |scene|
              one = key == :absent || Contenders::SingleFlights.own.include?(scene.contender.class.key)
              raise Unavailable, "each caller computes by itself" unless one
            end
            paced { |scene| Stampede.new(scene).public_send(key) }
            column("runs of the block", "text", sentence: sentence, all: true) { |all| Stampede.range(all, "runs") }
            column("median runs", "number", better: "lower", unit: "count") do |process|
              Bench::Stats.median(process["runs"])
            end
            column("answers", "text", all: true) { |all| Stampede.range(all, "answers") }
            column("no value", "text", sentence: "Callers that get no value when #{title}", all: true) do |all|
              Stampede.range(all, "none")
            end
            column("p50", "millis", all: true) { |all| Histogram.of(all, "waits").percentile(0.5) }
            column("p90", "millis", better: "lower", unit: "seconds", all: true) do |all|
              Histogram.of(all, "waits").percentile(0.9)
            end
            column("slowest", "millis", all: true) { |all| Histogram.of(all, "waits").slowest }
            column("CPU/wait", "percent", all: true) { |all| Stampede.share(all, "busy", "waited") }
          end
        end

        block(:expired, "the value expires", alone: true, unit: "read",
                                             about: "reads that begin while the block runs, compared with other " \
                                                    "hits; times in µs") do
          paced { |scene| Stampede.new(scene).expired }
          column("hits p99", "micros", all: true) { |all| Histogram.of(all, "plain").percentile(0.99) }
          column("meanwhile p99", "micros", better: "lower", unit: "seconds", all: true) do |all|
            Histogram.of(all, "during").percentile(0.99)
          end
          column("slowest", "micros", all: true) { |all| Histogram.of(all, "during").slowest }
          column("runs of the block", "number", sentence: "Computations when a value has expired, in the mean",
                                                better: "lower", unit: "count", all: true) do |all|
            Stampede.share(all, "runs", "expiries")
          end
        end
      end)
    end
  end
end
