# frozen_string_literal: true

require "etc"

module Larder
  module Lab
    module Servers
      # PostgreSQL as initdb configures it: only its place, and its sockets, are the lab's.
      #
      # It refuses to run as root: then it runs as the user postgres, or nobody, and its directory belongs to that user.
      class Postgresql < Server
        named "postgresql", "PostgreSQL", binary: "postgres",
                                          from: "install it (Debian: bin/servers, or apt-get install postgresql)"

        # Debian and others keep the programs of each version apart.
        PLACES = ["/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin"].freeze
        # Superuser of the private server.
        ROLE = "larder_lab"
        # The first message of the protocol: version 3.0, whom and which database.
        HELLO = "\0\3\0\0user\0#{ROLE}\0database\0postgres\0\0".b.freeze

        class << self
          private

          # The newest first; programs on the PATH before all.
          def directories
            super + PLACES.flat_map { |place| Dir[place] }.sort_by { |place| place[/\d+/].to_i }.reverse
          end
        end

        # @return [Array<String>] nothing but places, and shared memory in a file of the directory: the kernel would
        #   keep any other if the server were killed
        def arguments
          listen = port ? ["-h", HOST, "-p", port.to_s, "-k", ""] : ["-h", "", "-p", "5432", "-k", dir]
          ["-D", data, *listen, *settings.flat_map { |setting| ["-c", setting] }]
        end

        private

        # What differs from the default, as name=value.
        def settings = ["dynamic_shared_memory_type=mmap"]

        def socket_name = ".s.PGSQL.5432"

        # Ends it at once: its files are thrown away.
        def signal = "QUIT"

        def user
          @user ||= ["postgres", "nobody"].find { |name| account(name) } if Process.euid.zero?
        end

        def account(name)
          Etc.getpwnam(name)
        rescue ArgumentError
          nil
        end

        def prepare
          admit if user
          return if File.directory?(data)

          initdb = File.join(File.dirname(File.realpath(self.class.path)), "initdb")
          begin_with(initdb, data) do |directory|
            Dir.mkdir(directory, 0o700)
            own(directory) if user
            finish(initdb, "--pgdata", directory, "--auth", "trust", "--username", ROLE, "--encoding", "UTF8",
                   "--no-sync", "--no-instructions")
          end
        end

        def own(directory)
          owner = account(user)
          File.chown(owner.uid, owner.gid, directory)
        end

        # Lets the server's user into its directory, and through the directories of {Scratch} above it.
        def admit
          own(dir)
          above = dir
          admit_to(above) until (above = File.dirname(above)) == "/"
        end

        def admit_to(directory)
          stat = File.stat(directory)
          group = account(user).gid
          return if stat.mode.anybits?(0o001) || (stat.gid == group && stat.mode.anybits?(0o010))

          unless directory.match?(%r{/larder-lab-[^/]+(/\d+)*\z})
            raise Unavailable, "PostgreSQL does not run as root, and the user #{user} may not enter #{directory}: " \
                               "choose another place with --dir"
          end

          File.chown(nil, group, directory)
          File.chmod(0o710, directory)
        end

        def url_by_socket = "postgresql:///postgres?host=#{dir}&port=5432&user=#{ROLE}"

        def url_by_port(host, port) = "postgresql://#{ROLE}@#{host}:#{port}/postgres"

        # "R" asks for no password; while it starts, it answers "E".
        def answers? = ask([HELLO.bytesize + 4].pack("N") + HELLO).to_s.start_with?("R")
      end

      # PostgreSQL with the settings that are known to help a cache: room in memory for all of it and its index, and an
      # autovacuum that keeps up with rows which are written once and deleted soon.
      class PostgresqlTuned < Postgresql
        named "postgresql-tuned", "PostgreSQL that you have tuned"

        private

        def settings
          super + ["shared_buffers=#{2 * megabytes}MB", "autovacuum_naptime=10s", "autovacuum_vacuum_scale_factor=0.02",
                   "autovacuum_vacuum_insert_scale_factor=0.02", "autovacuum_analyze_scale_factor=0.02",
                   "autovacuum_vacuum_cost_delay=0"]
        end
      end
    end
  end
end
