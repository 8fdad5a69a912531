# frozen_string_literal: true

require_relative "coded"
require_relative "../proxy"
require_relative "../reports/figures"
require_relative "../units"

module Larder
  module Lab
    module Suites
      # Reads and writes behind a proxy that adds a round-trip time and limits the bandwidth. A store without a server
      # has no network, and takes turns with the others.
      module Wire
        # Networks by the last part of a block's key: their names, and what a proxy does; nil: there is none.
        RTTS = { "no_network" => ["no network", nil], "0us" => ["0 s", Proxy::Wire.new(rtt: 0.0)],
                 "500us" => ["500 µs", Proxy::Wire.new(rtt: 0.5e-3)],
                 "5000us" => ["5.00 ms", Proxy::Wire.new(rtt: 5e-3)], "yours" => ["yours", Coded::GIVEN] }.freeze
        LIMITS = { "no_limit" => ["no limit", Proxy::Wire.new(rtt: 0.5e-3)],
                   "1000mbit" => ["1.00 Gbit/s", Proxy::Wire.new(rtt: 0.5e-3, bandwidth: 1e9)],
                   "100mbit" => ["100 Mbit/s", Proxy::Wire.new(rtt: 0.5e-3, bandwidth: 100e6)],
                   "yours" => ["yours", Coded::GIVEN] }.freeze
        # Values that go as they are, by their headings; and codecs of a megabyte.
        SMALL = { "hello" => "12 B", "page" => "10 KB" }.freeze
        CODECS = %w[none snappy zstd-3].freeze
        LARGE = "text"
        # Keys that a value is stored under, one after the other.
        KEYS = 8

        module_function

        # Opens a store like the row's behind such a network, and stores the value there.
        def prepare(scene, wire, payload, compressor = nil)
          require_relative "../codecs/ways"
          made = Payloads.of(payload)
          scene[:value] = made.value
          wire = Proxy::Wire.new(rtt: scene.given.first, bandwidth: scene.given.last) if wire == Coded::GIVEN
          scene[:store] = behind(scene, wire).coded_by(**coding(scene, made, compressor)).open.store
          size = Reports::Figures.bytes(scene.figures["bytes"])
          KEYS.times { |number| write(scene, number) || raise(Unavailable, "it refuses #{size} of #{payload}") }
          Coded.refuse(payload) unless made.same?(scene[:store].read("wire/0")) || !scene.keeps?
        end

        # Seconds, and bits a second (nil: no limit).
        def parsed(text)
          rtt, bandwidth = text.split(",")
          [Units.duration(rtt.to_s, "--wire"), Units.bandwidth(bandwidth || "none", "--wire")]
        end

        def write(scene, number)
          scene[:store].write("wire/#{number % KEYS}", scene[:value], expires_in: 300) ? true : false
        end

        # True if as much came back as was stored.
        def read(scene, number) = scene[:store].read("wire/#{number % KEYS}")&.size == scene[:value].size

        def behind(scene, wire)
          at = scene.contender.endpoint
          scene[:proxy], far = (Proxy.before(at, wire, "wire") if wire && at)
          far ? scene.contender.another("far", endpoint: far) : scene.contender.another("near")
        end

        def coding(scene, made, compressor)
          ways = [Codecs.serializer("marshal", made.value), Codecs::Compressors.way(compressor)] if compressor
          scene.figures["bytes"] = (ways ? Codecs.bytes(made.value, *ways) : made.bytes).bytesize
          ways ? Codecs.options(*ways) : { compress: false }
        end
        private_class_method :behind, :coding
      end

      register("wire", Bench::Suite.define("wire") do
        title "Round-trip time and bandwidth"
        command "network", "effect of round-trip time and bandwidth on stores and codecs", <<~TEXT
          Reads and writes 12 bytes and 10 KB behind a proxy that adds a round-trip time,
          half of it in each direction, and then a megabyte with and without compression
          behind one that limits the bandwidth. Stores without a server have no network
          and take turns with the others.
        TEXT
        question "What do round trips and bandwidth do to each store, and to values with and without compression?"
        bundle Gemfiles::CODECS
        usual { %w[larder memory file redis valkey memcached] }
        takes "--wire RTT,BANDWIDTH", "your network, such as 12ms,50mbit", Wire.method(:parsed)
        preload { Coded.load(*Wire::SMALL.keys, Wire::LARGE) }

        answers "read_hello_500us", "read_page_500us", "write_page_500us"

        add = lambda do |key, axes, heading, operation, *network|
          block("#{operation}_#{key}".tr("-", "_"), "#{heading}, #{axes.values.join(", ")}",
                axes: axes, heading: heading, given: network.first == Coded::GIVEN) do
            setup { |scene| Wire.prepare(scene, *network) }
            call { |scene, number| Wire.public_send(operation, scene, number) }
            teardown { |scene| scene[:proxy]&.stop }
          end
        end

        Wire::RTTS.to_a.product(Wire::SMALL.to_a, %w[read write]) do |(key, (name, wire)), (payload, size), operation|
          add.call("#{payload}_#{key}", { "round trip" => name }, "#{operation}, #{size}", operation, wire, payload)
        end

        Wire::LIMITS.to_a.product(Wire::CODECS, %w[read write]) do |(key, (name, wire)), codec, operation|
          add.call("#{codec}_#{key}", { "bandwidth" => name, "compressor" => codec }, operation, operation,
                   wire, Wire::LARGE, codec)
        end
      end)
    end
  end
end
