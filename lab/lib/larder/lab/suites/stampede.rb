# frozen_string_literal: true

require "etc"
require_relative "stampede/herd"

module Larder
  module Lab
    module Suites
      # Counts computations of a value that many callers want at once, and how long they wait.
      module Stampede
        module_function

        # The least and the most of figures that have one number for each key.
        def range(processes, name) = processes.flat_map { |process| process[name] }.minmax.uniq.join("–")

        # The sum of one figure divided by that of another.
        def share(processes, part, whole)
          parts, wholes = [part, whole].map { |name| processes.sum { |process| process[name] } }
          parts.fdiv(wholes) if wholes.positive?
        end

        # The columns of a block in which all want a key that is absent.
        RUSH = lambda do |sentence|
          column("runs of the block", "text", sentence: sentence, all: true) { |all| Stampede.range(all, "runs") }
          column("median runs", "number", better: "lower", unit: "count") do |process|
            Bench::Stats.median(process["runs"])
          end
          column("answers", "text", all: true) { |all| Stampede.range(all, "answers") }
          column("no value", "text", all: true) { |all| Stampede.range(all, "none") }
          column("p50", "millis", all: true) { |all| Histogram.of(all, "waits").percentile(0.5) }
          column("p90", "millis", better: "lower", unit: "seconds", all: true) do |all|
            Histogram.of(all, "waits").percentile(0.9)
          end
          column("slowest", "millis", all: true) { |all| Histogram.of(all, "waits").slowest }
          column("CPU/wait", "percent", all: true) { |all| Stampede.share(all, "busy", "waited") }
        end
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

        block(:absent, "the key is absent", alone: true, unit: "caller",
                                            about: "for each key, the least and the most; times in ms") do
          paced { |scene| Stampede::Herd.new(scene).absent }
          instance_exec("Computations of an absent key that all callers want", &Stampede::RUSH)
        end

        block(:killed, "the process that computes is killed", alone: true, unit: "caller",
                                                              about: "without the computation that was killed") do
          setup { |scene| Stampede::Herd.new(scene).must_compute_for_all }
          paced { |scene| Stampede::Herd.new(scene).killed }
          instance_exec("Computations after the process that computed was killed",
                        &Stampede::RUSH)
        end

        block(:expired, "the value expires", alone: true, unit: "read",
                                             about: "reads that begin while the block runs, compared with other " \
                                                    "hits; times in µs") do
          paced { |scene| Stampede::Herd.new(scene).expired }
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
