# frozen_string_literal: true

require "fileutils"
require "rbconfig"
require_relative "errors"

module Larder
  module Lab
    # A process, proxy/main.rb, that stands between a client and a server as a network would: adds a round-trip time,
    # half of it each way, and limits bandwidth each way. A handshake takes no time, and there is no slow start and no
    # loss: what is modelled is a warm connection on a wire that is otherwise idle.
    # @api private
    class Proxy
      # rtt: seconds there and back; bandwidth: bits a second each way, nil: no limit.
      Wire = Struct.new(:rtt, :bandwidth, keyword_init: true)

      SCRIPT = File.expand_path("proxy/main.rb", __dir__)
      # Where it listens that has no Unix socket.
      HOST = "127.0.0.1"

      # The path of a private server's Unix socket, or its host:port.
      def self.target(endpoint) = endpoint["socket"] || endpoint.values_at("host", "port").join(":")

      # Starts one in front of a private server, which listens as the server does: at a Unix socket, or a port. Works in
      # the present directory, where the socket has that name. Answers it, and the endpoint by way of it.
      def self.before(endpoint, wire, name)
        target = target(endpoint)
        raise Unavailable, "a proxy needs a server of the lab: leave out --url" unless endpoint["private"]
        raise Unavailable, "nothing can stand before this server" unless endpoint["url"].include?(target)

        path = File.join(Dir.pwd, name) if endpoint["socket"]
        FileUtils.rm_f(path) if path
        proxy = new(target, wire, socket: path, log: File.join(Dir.pwd, "proxy.log")).start
        address = path || "#{HOST}:#{proxy.address}"
        [proxy, endpoint.merge("url" => endpoint["url"].sub(target, address), "socket" => path)]
      end

      # Port, or path of the Unix socket, at which the wire is entered.
      attr_reader :address
      attr_reader :pid

      # `target` is the path of the server's Unix socket, or host:port. It listens on `socket`; nil: on a port of the
      # loopback interface. `log` is a file for what goes wrong.
      def initialize(target, wire, log:, socket: nil)
        @arguments = [target, wire.rtt.to_s, wire.bandwidth.to_f.to_s, *socket]
        @log = log
      end

      # Starts the process and waits until it listens. Raises Unavailable if it cannot, or cannot reach the server.
      def start
        duty_reader, @duty = IO.pipe
        reader, writer = IO.pipe
        @pid = Process.spawn({ "RUBYOPT" => nil }, RbConfig.ruby, "--disable=gems", SCRIPT, *@arguments,
                             in: duty_reader, out: writer, err: [@log, "a"], pgroup: true)
        [duty_reader, writer].each(&:close)
        @address = reader.gets&.chomp or give_up
        @address = @address.to_i if @address.match?(/\A\d+\z/)
        self
      ensure
        reader.close
      end

      # Ends the process, and with it all connections.
      def stop
        @duty&.close
        Process.wait(@pid) if @pid
      rescue Errno::ECHILD
        nil
      ensure
        @pid = @duty = nil
      end

      private

      def give_up
        stop
        said = File.read(@log, encoding: "UTF-8").scrub.lines.map(&:strip).reject(&:empty?).last
        raise Unavailable, "the proxy does not start: #{said || "it printed nothing"}"
      end
    end
  end
end
