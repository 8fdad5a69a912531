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
        # Seconds there and back, nil: without the proxy.
        RTTS = [nil, 0.0, 0.5e-3, 5e-3].freeze
        # Bits a second, nil: no limit. They are measured with a round trip of this many seconds.
        LIMITS = [nil, 1e9, 100e6].freeze
        MIDDLE = 0.5e-3
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
          scene[:store] = behind(scene, wire).coded_by(**coding(scene, made, compressor)).open.store
          KEYS.times { |number| write(scene, number) || raise(Unavailable, "it refuses #{payload}") }
          Coded.refuse(payload) unless made.same?(scene[:store].read("wire/0")) || !scene.keeps?
        end

        # Seconds and bits a second: "0.012,50000000.0".
        def parsed(text)
          rtt, bandwidth = text.split(",")
          [Units.duration(rtt.to_s, "--wire"), Units.bandwidth(bandwidth || "none", "--wire")].join(",")
        end

        def given(given)
          rtt, bandwidth = given.split(",")
          Proxy::Wire.new(rtt: rtt.to_f, bandwidth: bandwidth&.to_f)
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
          way = Codecs.serializer("marshal", made.value)
          packing = compressor ? Codecs::Compressors.way(compressor) : Codecs::NONE
          scene.figures["bytes"] = Codecs.bytes(made.value, way, packing).bytesize
          compressor ? Codecs.options(way, packing) : { compress: false }
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

        add = lambda do |key, axes, heading, operation, given: false, &wire|
          block("#{operation}_#{key}".tr("-", "_"), "#{heading}, #{axes.values.join(", ")}",
                axes: axes, heading: heading, given: given) do
            setup { |scene| Wire.prepare(scene, *wire.call(scene)) }
            call { |scene, number| Wire.public_send(operation, scene, number) }
            teardown { |scene| scene[:proxy]&.stop }
          end
        end

        (Wire::RTTS + [:given]).product(Wire::SMALL.to_a, %w[read write]).each do |rtt, (payload, size), operation|
          own = Proxy::Wire.new(rtt: rtt) if rtt.is_a?(Float)
          place = own ? Reports::Figures.duration(rtt) : { nil => "no network", given: "yours" }[rtt]
          key = own ? "#{(rtt * 1e6).round}us" : place.tr(" ", "_")
          add.call("#{payload}_#{key}", { "round trip" => place }, "#{operation}, #{size}", operation,
                   given: rtt == :given) { |scene| [rtt == :given ? Wire.given(scene.given) : own, payload] }
        end

        (Wire::LIMITS + [:given]).product(Wire::CODECS, %w[read write]).each do |limit, codec, operation|
          place = { nil => "no limit", given: "yours" }.fetch(limit) { Reports::Figures.bits(limit) }
          own = Proxy::Wire.new(rtt: Wire::MIDDLE, bandwidth: limit) unless limit == :given
          key = limit.is_a?(Float) ? "#{(limit / 1e6).round}mbit" : place.tr(" ", "_")
          add.call("#{codec}_#{key}", { "bandwidth" => place, "compressor" => codec }, operation,
                   operation, given: limit == :given) { |scene| [own || Wire.given(scene.given), Wire::LARGE, codec] }
        end
      end)
    end
  end
end
