# frozen_string_literal: true

require "fileutils"
require_relative "contender"
require_relative "servers"

module Larder
  module Lab
    # The server of a contender for as long as it is needed: none if it needs none, the one at the user's URL, or a
    # private one, which is started and stopped here.
    # @api private
    class Hosting
      # Yields where the server of a {Contender} listens (nil if it needs none), and the server, which has a directory
      # next to `dir`; stops it afterwards. Raises Unavailable if it cannot be had, and Invalid if it ends by itself.
      def self.for(type, dir, size: Contender::SIZE)
        hosting = new(type.server, "#{dir}-server", size: size)
        hosting.attend { yield hosting.endpoint, hosting.server }
      ensure
        hosting&.stop
      end

      # endpoint: see {Server#endpoint} (nil without a server); server: nil if there is none, or none of the lab's.
      attr_reader :endpoint, :server

      # Starts the server unless `urls` has one of the user's. The caller calls {#stop}. `name` is in {Servers} (nil: no
      # server); `dir` does not exist yet; `size` is the room of a private server; `files` are those that the servers of
      # a run begin with (nil: it makes its own).
      def initialize(name, dir, urls = {}, size: Contender::SIZE, files: nil)
        return unless name

        type = Servers.fetch(name)
        urls[name] ? @endpoint = { "url" => urls[name] } : start(type, dir, size, files)
      end

      # Yields while the server runs, and answers what the block does. Raises Invalid if the server has ended by itself:
      # without it a contender says many things, and some stores say nothing.
      def attend
        answer = yield
        raise @server.failure if @server&.failure

        answer
      rescue Unavailable, Invalid => error
        raise @server&.failure(Server::SHORT_WHILE) || error
      end

      # Stops the server, if it was started here, and removes its directory.
      def stop
        return unless @server

        @server.stop
        FileUtils.rm_rf(@dir)
      end

      private

      def start(type, dir, size, files)
        Dir.mkdir(dir, 0o700)
        @dir = dir
        @server = type.new(dir, size: size, files: files)
        @endpoint = @server.start.endpoint
      rescue SystemCallError => error
        raise Unavailable, "#{type.binary} does not start: #{error.message}"
      ensure
        stop unless @endpoint
      end
    end
  end
end
