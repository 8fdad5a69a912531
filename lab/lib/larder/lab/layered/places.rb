# frozen_string_literal: true

# Starts the servers of a run, with a proxy before each, and tells where a machine finds them.

require_relative "../hosting"
require_relative "../proxy"

module Larder
  module Lab
    module Layered
      # Servers of two regions; what is not needed is not started.
      class Places
        # Names in {Servers} by names of remote stores here; the second region has a Redis of its own.
        SERVERS = { "redis" => "redis", "redis-2" => "redis", "memcached" => "memcached" }.freeze

        # Part of what is said of a server that is missing, which commands know that measure servers of the user's.
        OTHER_REMEDY = / or pass --\S+-url/
        private_constant :OTHER_REMEDY

        # @param plan [Plan]
        # @param directory [String]
        def initialize(plan, directory)
          @plan = plan
          @directory = directory
          @hosts = {}
        end

        # @param arrangement [String] of {Arrangement}
        # @param remote [String] a key of {SERVERS}
        # @param rtt [Float] seconds to it; 0: the same machine
        # @param backplane [String] another, which is as far away
        # @param path [String] of the machine's file
        # @return [Hash{Symbol=>Object}] see {Arrangement.open}
        # @raise [Unavailable] if a server cannot be had
        def place(arrangement, remote, rtt, path:, backplane: "redis", expires: nil)
          { arrangement: arrangement, remote: SERVERS.fetch(remote), url: url(remote, rtt), path: path,
            backplane_url: (url(backplane, rtt) if arrangement == "backplane"),
            expires: expires || (arrangement == "backplane" ? Plan::LONGER : @plan.expires) }
        end

        # @param remote [String]
        # @return [String] where the server itself listens
        def target(remote)
          Proxy.target(host(remote).first.endpoint)
        end

        # @return [Hash{String=>String}] versions of the servers
        def versions
          @hosts.values.to_h { |hosting, _| [hosting.server.class.key, hosting.server.class.version] }
        end

        # Yields; a server that ends meanwhile is what is reported.
        # @param remote [String]
        # @return [Object] what the block answers
        def attend(remote, &work)
          host(remote).first.attend(&work)
        end

        # @return [void]
        def stop
          @hosts.each_value do |hosting, proxy|
            proxy&.stop
            hosting.stop
          end
        end

        private

        def url(remote, rtt)
          hosting, proxy = host(remote)
          return hosting.endpoint["url"] unless rtt.positive?

          hosting.server.endpoint_at(Proxy::HOST, proxy.addresses[@plan.networks.index(rtt)])["url"]
        end

        def host(remote)
          @hosts[remote] ||= begin
            hosting = Hosting.new(SERVERS.fetch(remote), File.join(@directory, "#{remote}-server"))
            [hosting, proxy(remote, hosting)]
          end
        rescue Unavailable => error
          raise Unavailable, error.message.sub(OTHER_REMEDY, "")
        end

        def proxy(remote, hosting)
          return if @plan.networks.empty?

          wires = @plan.networks.map { |rtt| Proxy::Wire.new(rtt: rtt) }
          Proxy.new(Proxy.target(hosting.endpoint), wires: wires, log: File.join(@directory, "#{remote}-proxy.log"))
               .start
        rescue Unavailable
          hosting.stop
          raise
        end
      end
    end
  end
end
