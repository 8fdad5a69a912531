# frozen_string_literal: true

require "etc"

module Larder
  module Lab
    module Servers
      # memcached with its defaults but for the room every store gets.
      class Memcached < Server
        named "memcached", "memcached", binary: "memcached",
                                        from: "install it (Debian: apt-get install memcached)"

        def arguments
          listen = port ? ["-l", HOST, "-p", port.to_s, "-U", "0"] : ["-s", socket, "-a", "700"]
          # As root it insists on being told whom to run as; the directory is open to this user only.
          [*listen, "-m", megabytes.to_s, *(["-u", Etc.getpwuid.name] if Process.euid.zero?)]
        end

        private

        # Asked kindly, it takes a second.
        def signal = "KILL"

        def url_by_socket = socket

        def url_by_port(host, port) = "#{host}:#{port}"

        def answers? = ask("version\r\n").to_s.start_with?("VERSION")
      end
    end
  end
end
