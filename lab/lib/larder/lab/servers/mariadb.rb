# frozen_string_literal: true

require "etc"

module Larder
  module Lab
    module Servers
      # MariaDB with its own defaults, without the files of /etc: only its place, and its sockets, are the lab's.
      class Mariadb < Server
        named "mariadb", "MariaDB or MySQL", binary: "mariadbd", port: 3306,
                         remedy: "install it (Debian: bin/servers, or apt-get install mariadb-server-core " \
                                 "mariadb-client-core) or pass --mariadb-url"

        # @return [String, nil] full path of the program that makes its directory ready
        def self.installer
          find("mariadb-install-db") || find("mysql_install_db")
        end

        # @return [Array<String>]
        def arguments
          listen = port ? ["--bind-address=#{HOST}", "--port=#{port}"] : ["--skip-networking"]
          # As root it insists on being told whom to run as; the directory is open to this user only.
          ["--no-defaults", "--user=#{Etc.getpwuid.name}", "--datadir=#{data}", "--tmpdir=#{dir}",
           "--pid-file=#{File.join(dir, "pid")}", "--socket=#{port ? nil : socket}", *listen]
        end

        private

        def data
          File.join(dir, "data")
        end

        # Nothing is written back: its files are thrown away.
        def signal
          "KILL"
        end

        def prepare
          return if File.directory?(data)

          installer = self.class.installer
          raise Unavailable, "mariadb-install-db is not on the PATH: #{self.class.remedy}" unless installer

          begin_with(installer, data) do |directory|
            finish(installer, "--no-defaults", "--user=#{Etc.getpwuid.name}", "--datadir=#{directory}",
                   "--skip-test-db", "--auth-root-authentication-method=normal")
          end
        end

        def url_by_socket
          "trilogy://root@localhost/?socket=#{socket}"
        end

        def url_by_port(host, port)
          "trilogy://root@#{host}:#{port}/"
        end

        # It speaks first: length, number, and the version of the protocol, 10.
        def answers?
          ask("").to_s.getbyte(4) == 10
        end
      end
    end
  end
end
