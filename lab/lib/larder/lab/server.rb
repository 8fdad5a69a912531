# frozen_string_literal: true

require "fileutils"
require "open3"
require "socket"
require_relative "clock"
require_relative "contender"
require_relative "errors"
require_relative "guarded"

module Larder
  module Lab
    # A private server: found on the PATH, prepared, started on a Unix socket in a directory of the lab (or on a
    # loopback port if the path is too long for a socket), asked whether it answers, and stopped. A warden ends it if
    # the lab is killed. A subclass names its binary and implements {#arguments}, {#answers?}, and its clients' URLs:
    # {#url_by_socket} and {#url_by_port}. Where a directory must be made ready first, it overrides {#prepare}.
    # @api private
    class Server
      include Clock

      # Seconds that a server has for starting.
      PATIENCE = 15
      # sockaddr_un has room for 103 bytes on macOS and 107 on Linux.
      LONGEST_SOCKET_PATH = 100
      HOST = "127.0.0.1"
      # Seconds between the end of a server and its warden's.
      SHORT_WHILE = 0.5
      # Lines of a server's log that say why it does not start.
      TELLING = /fatal|panic|error|cannot|could not|denied/i
      # Lines that tell more than what follows from it.
      FULL = /no space left|out of disk space/i
      # Time and process, as logs begin.
      STAMP = /\A[\d\s:.-]+(?:UTC )?(?:\[\d+\] )?/

      class << self
        # Its name in the registry and in words, the name of its program, and where to get that.
        attr_reader :key, :title, :binary, :source

        def remedy = "#{source} or pass --url #{key}=URL"

        # The full path of the program; nil if it is not there.
        def path = find(binary)

        # The version that the program states, without build numbers.
        def version
          return @version if defined?(@version)

          said = path && Open3.capture2e(path, "--version").first
          @version = said && said[/\A\D*[\d.]+/]&.delete_prefix("#{File.dirname(path)}/")&.squeeze(" ")
        end

        private

        def find(program)
          directories.map { |directory| File.join(directory, program) }
                     .find { |file| File.file?(file) && File.executable?(file) }
        end

        def directories = ENV.fetch("PATH", "").split(File::PATH_SEPARATOR) + ["/usr/sbin", "/usr/local/bin"]

        # Facts that are not given are those of the class above.
        def named(key, title, binary: superclass.binary, from: superclass.source)
          @key = key
          @title = title
          @binary = binary
          @source = from
          Servers.register(key, self)
        end
      end

      # `dir` is empty and its own; `size` is the room for what is cached, in bytes; `files` are {ServerFiles} of the
      # run (nil: it makes its own).
      def initialize(dir, size: Contender::SIZE, files: nil)
        @dir = dir
        @size = size
        @files = files
        @socket = File.join(dir, socket_name)
        @port = free_port if @socket.bytesize > LONGEST_SOCKET_PATH
      end

      # Starts the server and waits until it answers. One that was stopped is started again with what it had kept.
      def start
        program = self.class.path
        raise Unavailable, "#{self.class.binary} is not on the PATH: #{self.class.remedy}" unless program

        prepare unless @prepared
        @prepared = true
        @process = Guarded.new([program, *arguments], dir: dir, log: log, signal: signal, user: user).start
        limit = now + PATIENCE
        until pid && answers?
          give_up(@process) if pid.nil? || now > limit || @process.ended?
          sleep 0.01
        end
        self
      end

      def pid = @process&.pid

      # Stops the server and waits until it is gone.
      def stop = @process&.stop

      # The error to raise if the server has ended by itself, within `patience` seconds.
      def failure(patience = 0)
        return unless @process&.ended?(patience)

        Invalid.new("the server ended: #{self.class.binary} #{@process.cause}")
      end

      # Where contenders find it: "url" for clients, a "socket" (a path) or "host" and "port" for a proxy, "private" if
      # the lab started it and may empty it, and "pid". One of the user's has a "url" and, in use, a "namespace". In a
      # suite it has the "dir" of its files and a "place", too.
      def endpoint
        return endpoint_at(HOST, port) if port

        { "url" => url_by_socket, "socket" => socket, "private" => true, "pid" => pid }
      end

      # The same server by way of something that passes on to it, such as a proxy.
      def endpoint_at(host, port)
        { "url" => url_by_port(host, port), "host" => host, "port" => port, "private" => true, "pid" => pid }
      end

      def recorded = { "version" => self.class.version, "arguments" => arguments }

      private

      attr_reader :dir, :socket, :port, :size

      def megabytes = [size / (1024 * 1024), 1].max

      def prepare; end

      def socket_name = "socket"

      def signal = "TERM"

      # Whom the server runs as; nil: as the lab.
      def user = nil

      def log = File.join(dir, "server.log")

      # Where a server with files of its own has them.
      def data = File.join(dir, "data")

      # Has files to begin with in a directory that does not exist yet.
      def begin_with(program, directory, &make)
        @files ? @files.copy(File.basename(program), directory, &make) : yield(directory)
      end

      def finish(*command)
        process = Guarded.new(command, dir: dir, log: log, user: user).start
        give_up(process, "#{File.basename(command.first)} fails") unless process.ended?(PATIENCE) && process.succeeded?
      ensure
        process&.stop
      end

      def give_up(process, what = "#{self.class.binary} does not start")
        process.stop
        raise Unavailable, "#{what}: #{last_words || "it printed nothing"}"
      end

      def last_words
        return unless File.exist?(log)

        lines = File.read(log, encoding: "UTF-8").scrub.lines.map(&:strip).reject(&:empty?)
        (lines.grep(FULL).first || lines.grep(TELLING).last || lines.last)&.sub(STAMP, "")
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

    # Makes the files that servers of a kind begin with once in a run, as `initdb` does, and copies them for each
    # server. Threads may ask at once.
    # @api private
    class ServerFiles
      def initialize(dir)
        @dir = dir
        @lock = Mutex.new
      end

      def copy(name, place)
        files = File.join(@dir, name)
        @lock.synchronize { make(files) { |directory| yield directory } unless File.directory?(files) }
        FileUtils.cp_r(files, place, preserve: true)
      end

      private

      # Files of a program that failed halfway are not taken for its files.
      def make(files)
        unfinished = "#{files}.unfinished"
        FileUtils.rm_rf(unfinished)
        yield unfinished
        File.rename(unfinished, files)
      end
    end
  end
end
