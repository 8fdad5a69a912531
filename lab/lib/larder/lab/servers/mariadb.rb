# frozen_string_literal: true

require "etc"

module Larder
  module Lab
    module Servers
      # MariaDB with its own defaults, without the files of /etc: only its place, and its sockets, are the lab's.
      class Mariadb < Server
        named "mariadb", "MariaDB or MySQL", binary: "mariadbd",
                                             from: "install it (Debian: bin/servers, or apt-get install " \
                                                   "mariadb-server-core mariadb-client-core)"

        # @return [String, nil] full path of the program that makes its directory ready
        def self.installer = find("mariadb-install-db") || find("mysql_install_db")

        def arguments
          listen = port ? ["--bind-address=#{HOST}", "--port=#{port}"] : ["--skip-networking"]
          [*common, "--datadir=#{data}", "--tmpdir=#{dir}", "--pid-file=#{File.join(dir, "pid")}",
           "--socket=#{port ? nil : socket}", *listen]
        end

        private

        # As root it insists on being told whom to run as; the directory is open to this user only.
        def common = ["--no-defaults", *("--user=#{Etc.getpwuid.name}" if Process.euid.zero?)]

        # Nothing is written back: its files are thrown away.
        def signal = "KILL"

        def prepare
          return if File.directory?(data)

          installer = self.class.installer
          raise Unavailable, "mariadb-install-db is not on the PATH: #{self.class.remedy}" unless installer

          begin_with(installer, data) do |directory|
            finish(installer, *common, "--datadir=#{directory}", "--skip-test-db",
                   "--auth-root-authentication-method=normal")
          end
        end

        def url_by_socket = "trilogy://root@localhost/?socket=#{socket}"

        def url_by_port(host, port) = "trilogy://root@#{host}:#{port}/"

        # It speaks first: length, number, and the version of the protocol, 10.
        def answers? = ask("").to_s.getbyte(4) == 10
      end

      # MariaDB with the query cache, which is off by default: answers to the same words are kept until a table is
      # written to. MySQL has none since its version 8.
      class MariadbQueryCache < Mariadb
        named "mariadb-query-cache", "MariaDB with its query cache on"

        def arguments = [*super, "--query-cache-type=ON", "--query-cache-size=64M"]
      end
    end
  end
end
