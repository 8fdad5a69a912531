# frozen_string_literal: true

# Finds the server of a contender: none if it needs none, the one at the user's URL, or a private one, which is
# started and stopped here.

require "fileutils"
require_relative "contender"
require_relative "servers"

module Larder
  module Lab
    # A server for as long as it is needed.
    #
    # @example
    #   Hosting.for(Contenders.fetch("redis"), dir, urls) do |endpoint, server|
    #     endpoint["url"]        # endpoint is nil for a contender without a server
    #     server&.memory_bytes   # server is nil for one of the user's own, too
    #   end
    class Hosting
      # Yields where the server of a contender listens, and stops it afterwards if it was started here.
      # @param type [Class] a {Contender}
      # @param dir [String] the directory of the contender; a private server gets one beside it
      # @param urls [Hash{String=>String}] running servers of the user's, by names in {Servers}
      # @param size [Integer] bytes of room that a private server gets
      # @yieldparam endpoint [Hash{String=>Object}, nil] see {Endpoint}; nil if it needs no server
      # @yieldparam server [Server, nil] nil if it needs none, or the user's own is used
      # @return [Object] what the block answers
      # @raise [Unavailable] if the server cannot be had
      # @raise [Invalid] if it ends by itself meanwhile
      def self.for(type, dir, urls = {}, size: Contender::SIZE)
        hosting = new(type.server, "#{dir}-server", urls, size: size)
        hosting.attend { yield hosting.endpoint, hosting.server }
      ensure
        hosting&.stop
      end

      # @return [Hash{String=>Object}, nil] see {Endpoint}; nil without a server
      attr_reader :endpoint
      # @return [Server, nil] nil if there is none, or none of the lab's
      attr_reader :server

      # Starts the server unless a URL is given for it. Who calls this calls {#stop}.
      # @param name [String, nil] in {Servers}; nil: no server
      # @param dir [String] a directory that does not exist yet
      # @param urls [Hash{String=>String}]
      # @param size [Integer] bytes of room that a private server gets
      # @param files [ServerFiles, nil] that private servers of a run begin with; nil: it makes its own
      # @raise [Unavailable]
      def initialize(name, dir, urls = {}, size: Contender::SIZE, files: nil)
        return unless name

        type = Servers.fetch(name)
        urls[name] ? @endpoint = type.given(urls[name]) : start(type, dir, size, files)
      end

      # Yields while the server runs. Without it a contender says many things, and some stores say nothing.
      # @return [Object] what the block answers
      # @raise [Invalid] if the server has ended by itself
      def attend
        answer = yield
        raise @server.failure if @server&.failure

        answer
      rescue Unavailable, Invalid => error
        raise @server&.failure(Server::SHORT_WHILE) || error
      end

      # Stops the server, if it was started here, and removes its directory.
      # @return [void]
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
