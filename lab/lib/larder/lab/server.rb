# frozen_string_literal: true

# Owns a private server process: found on the PATH, started on a Unix socket in a directory of the lab (or a loopback
# port where the path is too long for one), asked whether it answers, stopped. A warden stands between, so that the
# server ends even when the lab is killed.

require "open3"
require "rbconfig"
require "socket"
require_relative "clock"
require_relative "contender"
require_relative "endpoint"
require_relative "errors"

module Larder
  module Lab
    # A subclass names its binary and implements {#arguments}, {#answers?}, and its clients' URLs: {#url_by_socket} and
    # {#url_by_port}.
    class Server
      include Clock

      WARDEN = File.expand_path("warden.rb", __dir__)
      # Seconds that a server has for starting.
      PATIENCE = 15
      # sockaddr_un has room for 103 bytes on macOS and 107 on Linux.
      LONGEST_SOCKET_PATH = 100
      # Where a private server listens that has no socket.
      HOST = "127.0.0.1"

      class << self
        # @return [String] name in the registry
        attr_reader :key
        # @return [String] name of the program
        attr_reader :binary
        # @return [String] how to get it
        attr_reader :remedy
        # @return [Integer] the port on which such servers usually listen
        attr_reader :usual_port

        # @return [String, nil] full path of the program
        def path
          directories = ENV.fetch("PATH", "").split(File::PATH_SEPARATOR) + ["/usr/sbin", "/usr/local/bin"]
          directories.map { |directory| File.join(directory, binary) }
                     .find { |file| File.file?(file) && File.executable?(file) }
        end

        # @return [String, nil] what the program says about its version, without build numbers
        def version
          return @version if defined?(@version)

          @version = path && Open3.capture2e(path, "--version").first[/\A\D*[\d.]+/]
        end

        # @param url [String] of a running server of the user's
        # @return [Hash{String=>Object}] what a contender gets, see {Endpoint}
        def given(url)
          Endpoint.given(url, port: usual_port)
        end

        private

        def named(key, binary:, remedy:, port:)
          @key = key
          @binary = binary
          @remedy = remedy
          @usual_port = port
          Servers.register(key, self)
        end
      end

      # @return [Integer, nil] pid of the running server
      attr_reader :pid

      # @param dir [String] an empty directory of its own
      # @param size [Integer] bytes of room for what is cached
      def initialize(dir, size: Contender::SIZE)
        @dir = dir
        @size = size
        @socket = File.join(dir, "socket")
        @port = free_port if @socket.bytesize > LONGEST_SOCKET_PATH
      end

      # Starts the server and waits until it answers.
      # @return [self]
      # @raise [Unavailable] with what the server printed, if it does not
      def start
        program = self.class.path
        raise Unavailable, "#{self.class.binary} is not on the PATH: #{self.class.remedy}" unless program

        launch(program)
        limit = now + PATIENCE
        until answers?
          give_up if now > limit || ended?
          sleep 0.01
        end
        self
      end

      # Stops the server and waits until it is gone.
      # @return [void]
      def stop
        @duty&.close
        Process.wait(@warden) if @warden
      rescue Errno::ECHILD
        nil
      ensure
        @warden = @duty = nil
      end

      # @return [Hash{String=>Object}] what a contender gets, see {Endpoint}
      def endpoint
        return endpoint_at(HOST, port) if port

        Endpoint.build(url: url_by_socket, socket: socket, private: true, pid: pid)
      end

      # @param host [String] of something that passes on to this server, such as a proxy
      # @param port [Integer]
      # @return [Hash{String=>Object}] the same server by way of that
      def endpoint_at(host, port)
        Endpoint.build(url: url_by_port(host, port), host: host, port: port, private: true, pid: pid)
      end

      # @return [Integer, nil] resident bytes of the server; nil where the system does not say
      def memory_bytes
        kilobytes = File.read("/proc/#{pid}/status")[/^VmRSS:\s+(\d+)/, 1]
        kilobytes && (kilobytes.to_i * 1024)
      rescue SystemCallError
        nil
      end

      # @return [Hash{Symbol=>Object}] version and arguments, for the record
      def recorded
        { version: self.class.version, arguments: arguments }
      end

      # @return [Array<String>] the command line after the program, for the record
      def arguments
        raise NotImplementedError, "#{self.class} does not say how it is started"
      end

      private

      attr_reader :dir, :socket, :port, :size

      # @return [Integer] room in megabytes of 1,048,576 bytes
      def megabytes
        [size / (1024 * 1024), 1].max
      end

      def launch(program)
        duty_reader, @duty = IO.pipe
        pid_reader, pid_writer = IO.pipe
        @warden = Process.spawn({ "RUBYOPT" => nil }, RbConfig.ruby, "--disable=gems", WARDEN, "run", program,
                                *arguments, in: duty_reader, out: pid_writer, err: [log, "a"], chdir: dir, pgroup: true)
        duty_reader.close
        pid_writer.close
        @pid = pid_reader.gets&.to_i
        pid_reader.close
        give_up unless @pid
      end

      def log
        File.join(dir, "server.log")
      end

      def ended?
        Process.wait(@warden, Process::WNOHANG).tap { |ended| @warden = nil if ended }
      end

      def give_up
        stop
        said = File.exist?(log) ? File.read(log, encoding: "UTF-8").scrub.lines.map(&:strip).reject(&:empty?).last : nil
        raise Unavailable, "#{self.class.binary} does not start: #{said || "it printed nothing"}"
      end

      # Sends one line and answers what came back, or nil.
      def ask(request)
        connection = port ? TCPSocket.new(HOST, port) : UNIXSocket.new(socket)
        connection.write(request)
        connection.wait_readable(1) && connection.read_nonblock(200)
      rescue SystemCallError, IOError
        nil
      ensure
        connection&.close
      end

      def free_port
        probe = TCPServer.new(HOST, 0)
        probe.addr[1]
      ensure
        probe&.close
      end
    end
  end
end
