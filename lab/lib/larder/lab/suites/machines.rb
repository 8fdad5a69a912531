# frozen_string_literal: true

require_relative "shop"
require_relative "../bench/callers"
require_relative "../clock"
require_relative "../histogram"
require_relative "../proxy"
require_relative "../reports/figures"
require_relative "../units"

module Larder
  module Lab
    module Suites
      # A store that several machines share, behind a round trip, alone and with Larder in front of it; and what a
      # machine sees while another one changes values. Each machine is a process with a file of its own.
      module Machines
        # Seconds there and back to the store: in a data centre, and to another region.
        RTTS = [0.5e-3, 20e-3].freeze
        # Seconds that a copy is used without a backplane: while another machine changes values, and else.
        EXPIRES = 0.5
        LONGER = 60.0
        # Round trips and expiries that a run can wait for: clients of Rails give up after a second.
        LIMITS = [(0..0.45), (0.1..10.0)].freeze
        # Keys of a page and of a read_multi, and bytes of each value.
        PAGE = 10
        BYTES = 2000
        # Options of each write.
        KEPT = { expires_in: 300 }.freeze
        # Seconds of watched changes, to which round trips are added.
        WATCHED = 0.8
        TRIPS = 4
        # Seconds that an answer may be older than its bound, because expiry is in milliseconds.
        SLACK = 0.01

        extend Clock

        module_function

        # A round trip and a local_expires_in, in seconds.
        def parsed(text)
          given = [*text.split(",").map { |word| Units.duration(word, "--rtt") }, EXPIRES].first(2)
          return given if LIMITS.zip(given).all? { |limit, seconds| limit.cover?(seconds) }

          raise UsageError, "--rtt #{text}: a round trip of 450ms at most, and a local_expires_in of 100ms to 10s"
        end

        # Has a machine at that distance from the server, one for all blocks of this process. Without an `rtt` it is the
        # user's; copies are used for `expires` seconds, or as the user says, or {EXPIRES}.
        def at(scene, rtt, expires = nil)
          given = scene.given.to_a
          scene[:place] = [rtt || given.first, expires || given.last || EXPIRES]
          scene[:machine], = (@opened ||= {})[scene[:place]] ||= begin
            server = scene.contender.endpoint or raise Unavailable, "machines cannot share it"
            proxy, endpoint = Proxy.before(server, Proxy::Wire.new(rtt: scene[:place].first), "wire-#{@opened.size}")
            [machine(scene, scene.contender, "machine-#{@opened.size}", endpoint), proxy]
          end
          scene[:store] = scene[:machine].store
        end

        # Stores the values of a page, and has the machine read them.
        def fill(scene, rtt)
          scene[:page] = (0...PAGE).to_h { |number| ["page/#{number}", Shop::Text.html(number, BYTES)] }
          scene[:key], scene[:value] = scene[:page].first
          at(scene, rtt, LONGER).write_multi(scene[:page], **KEPT)
          scene[:file] = (scene[:store].cache if scene[:store].respond_to?(:cache))
          return if scene[:store].read_multi(*scene[:page].keys) == scene[:page]

          raise Invalid, "a wrong value: a page did not come back as it was stored"
        end

        # Removes copies from the machine's file, so that reads of these keys miss.
        def forget(scene, keys)
          keys.each { |key| scene[:file].delete(key) } if scene[:file]
        end

        # Watches keys while another machine, as far from the server, changes them. An answer that is older than it may
        # be is invalid.
        def seen(scene)
          bound = scene[:machine].respond_to?(:bound) ? scene[:machine].bound : 0.0
          to = now + WATCHED + (TRIPS * scene[:place].first)
          settled = to + (TRIPS * scene[:place].first) + (bound > LIMITS.last.end ? 0.1 : bound + 0.1)
          reads = nil
          changes, = Bench::Callers.all(1, here: -> { reads = Ages.new(scene[:store]).watch(settled) }) do
            Ages.new(machine(scene, scene[:machine], "other", scene[:machine].endpoint).store).change(to)
          end
          ages = changes.zip(reads).flat_map { |made, answers| Ages.of(made, answers) }
          raise Invalid, "the other machine changed nothing in time" if ages.empty?

          oldest, most = [ages.max, bound].map { |seconds| Reports::Figures.duration(seconds) }
          raise Invalid, "an answer was #{oldest} older than a change on another machine, at most #{most} is right" if
            ages.max > bound + SLACK

          histogram = ages.each_with_object(Histogram.new) { |age, all| all.record((age * 1e9).round) }
          seconds = changes.flatten(1).sum { |began, returned| returned - began }
          { "calls" => ages.size, "seconds" => seconds / ages.size,
            "figures" => { "histogram" => histogram.to_h, "bound" => bound } }
        end

        def machine(scene, like, name, endpoint)
          machine = like.another(name, endpoint: endpoint)
          machine.copies_for(scene[:place].last) if machine.respond_to?(:copies_for)
          machine.open
        end
        private_class_method :machine

        # Changes keys on one machine and reads them on another all the time, each in a thread of its own. Versions of a
        # key go up from 1; 0 is the one before.
        class Ages
          include Clock

          # Keys, changes of each in a second, and seconds between two reads.
          KEYS = 8
          RATE = 5.0
          PAUSE = 0.0005

          # The seconds from each return of a write to the last read that answered what was before; 0: none did. Changes
          # of a key are times: when each write began, and when it had returned. Reads are version => when the last read
          # that answered it began.
          def self.of(changes, reads)
            changes.map.with_index(1) do |(_, returned), version|
              last = reads.filter_map { |seen, began| began if seen < version }.max || returned
              [last - returned, 0.0].max
            end
          end

          def initialize(store)
            @store = store
          end

          # Stores the first versions.
          def begin = KEYS.times { |key| @store.write("watched/#{key}", 0, **KEPT) }

          # Answers changes by key, see {Ages.of}.
          def change(until_then)
            each_key do |key|
              random = Random.new(key)
              changes = []
              while (due = now - (Math.log(1.0 - random.rand) / RATE)) < until_then
                sleep([due - now, 0].max)
                began = now
                @store.write("watched/#{key}", changes.size + 1, **KEPT)
                changes << [began, now]
              end
              changes
            end
          end

          # Answers reads by key, see {Ages.of}.
          def watch(until_then)
            each_key do |key|
              reads = {}
              while (began = now) < until_then
                version = @store.read("watched/#{key}") or raise Invalid, "a wrong value: a watched key is lost"
                reads[version] = began
                sleep PAUSE
              end
              reads
            end
          end

          private

          def each_key = Array.new(KEYS) { |key| Thread.new { yield key } }.map(&:value)
        end
      end

      register("machines", Bench::Suite.define("machines") do
        title "Machines that share a store"
        command "machines", "Larder in front of a store that machines share: times near and far, age of copies", <<~TEXT
          Measures a store that several machines share: alone, with Larder in front of it
          (remote: of :larder_store), and with a backplane, which tells the machines of
          changes. A proxy in front of a private Redis adds a short or a long round trip.
          Processes with a file each stand for machines.

          The report has the time of each call, and how old answers are after a change on
          another machine. A row with an answer that is older than it may be is invalid.
          Without a backplane copies are used for 500 ms here.
        TEXT
        question "What does Larder in front of a remote store save, and how old may an answer be?"
        usual { %w[redis larder-redis larder-redis-backplane] }
        base "larder-redis"
        answers "hit_500us", "miss_500us", "write_500us"
        takes "--rtt RTT,TIME", "your round trip and local_expires_in,", "such as 12ms,5s", Machines.method(:parsed)

        calls = {
          "hit" => [nil, proc { |scene, _| scene[:store].read(scene[:key]) == scene[:value] }],
          "ten_hits" => ["one after the other", proc do |scene, _|
            scene[:page].all? { |key, value| scene[:store].read(key) == value }
          end],
          "miss" => ["the machine has no copy, the server has the value", proc do |scene, _|
            Machines.forget(scene, [scene[:key]])
            scene[:store].read(scene[:key]) == scene[:value]
          end],
          "read_multi" => ["of ten keys without copies", proc do |scene, _|
            Machines.forget(scene, scene[:page].keys)
            scene[:store].read_multi(*scene[:page].keys) == scene[:page]
          end],
          "write" => [nil, proc do |scene, _|
            scene[:store].write(scene[:key], scene[:value], **Machines::KEPT) ? true : false
          end]
        }

        [*Machines::RTTS, nil].each do |rtt|
          trip = rtt ? Reports::Figures.duration(rtt) : "yours"
          place = rtt ? "#{trip} away" : trip
          key = rtt ? "#{(rtt * 1e6).round}us" : trip

          calls.each do |name, (about, code)|
            title = name == "ten_hits" ? "ten hits" : name
            block("#{name}_#{key}", "#{title}, #{place}", about: about, axes: { "round trip" => trip }, heading: title,
                                                          given: rtt.nil?) do
              setup { |scene| Machines.fill(scene, rtt) }
              call(&code)
            end
          end

          block("seen_#{key}", "how old answers are after a change on another machine, #{place}",
                about: "from the return of the write to the beginning of the last read elsewhere that answered the " \
                       "old value; 0 s: none did; bound: no later read does, whatever fails",
                unit: "change", given: rtt.nil?, alone: true) do
            setup { |scene| Machines::Ages.new(Machines.at(scene, rtt)).begin }
            paced { |scene| Machines.seen(scene) }
            { "50 %" => 0.5, "99 %" => 0.99 }.each do |name, share|
              column(name, "seconds", all: true) { |all| Histogram.of(all).quantile(share) }
            end
            column("oldest", "seconds", all: true, sentence: "Oldest answer after changes, #{place}") do |all|
              Histogram.of(all).slowest
            end
            column("bound", "seconds") { |process| process["bound"] }
            column("changes", "integer", all: true) { |all| Histogram.of(all).count }
          end
        end
      end)
    end
  end
end
