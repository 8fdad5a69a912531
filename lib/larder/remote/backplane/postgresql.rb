# frozen_string_literal: true

# Messages by LISTEN and NOTIFY of PostgreSQL, with the gem pg.

require "larder/remote/backplane/server"

module Larder
  module Remote
    class Backplane
      # Listening needs a connection of its own to the server, not one of a pool that gives connections to others
      # between transactions, as PgBouncer does.
      # @api private
      class Postgresql < Server
        # Parts of the place. The port and the database have defaults.
        PLACE = { host: nil, hostaddr: nil, port: 5432, dbname: nil, service: nil }.freeze
        private_constant :PLACE

        # @param options [Hash] what PG.connect takes
        def initialize(options)
          super()
          place = PLACE.merge({ dbname: options[:user] }, options.slice(*PLACE.keys)).compact
          place[:host] = place[:host].downcase if place[:host]
          @place = "postgresql:#{place.map { |part| part.join("=") }.join(" ")}"
          timeout = options.fetch(:connect_timeout, DEADLINE / 2).to_i
          @options = { **options, connect_timeout: timeout.clamp(1, DEADLINE) }
        end

        # @param (see Redis#listen)
        def listen(channel, &block)
          forget_parents
          deadline = Deadline.in(DEADLINE)
          @subscriber = connected(deadline) { connect }
          query(@subscriber, "LISTEN #{@subscriber.quote_ident(channel)}", [], deadline)
          yield :begun
          attend(@subscriber, Pulse.new, &block)
        ensure
          @subscriber&.close
          @subscriber = nil
        end

        private

        def client_errors
          [PG::Error]
        end

        def servers
          1
        end

        # libpq knows of several hosts.
        def next_server; end

        def connect
          PG.connect(**@options).tap { |connection| connection.setnonblocking(true) }
        end

        def deliver(connection, channel, message, deadline)
          query(connection, "SELECT pg_notify($1, $2)", [channel, message], deadline)
        end

        def close(connection)
          connection.close unless connection.finished?
        end

        # To close it would end the session of the parent.
        def disown(connection)
          connection.socket_io.reopen(IO::NULL, "r+") unless connection.finished?
        end

        # The methods of PG that wait have no deadline.
        def query(connection, sql, arguments, deadline)
          connection.send_query_params(sql, arguments)
          wait(connection, :wait_writable, deadline) until connection.sync_flush
          until answered?(connection)
            wait(connection, :wait_readable, deadline)
            connection.consume_input
          end
        end

        def wait(connection, event, deadline)
          connection.socket_io.public_send(event, deadline.left) || raise(Unreachable, "no answer in time")
        end

        # Takes results that have come. Notifications that were in the stream before the answer can be had now.
        #
        # @return [Boolean] has the whole answer come?
        # @raise [PG::Error] it is an error
        def answered?(connection)
          until connection.is_busy
            result = connection.sync_get_result
            return true unless result

            result.check
          end
          false
        end

        def attend(connection, pulse, &block)
          loop do
            ended = pulse.waiting? && answered?(connection)
            notified(connection, &block)
            yield :answered, pulse.answered if ended
            ask(connection, pulse) if pulse.due?
            next pulse.silent unless connection.socket_io.wait_readable(pulse.wait)

            pulse.heard
            connection.consume_input
          end
        end

        def ask(connection, pulse)
          pulse.ask
          connection.send_query_params("SELECT 1", [])
          wait(connection, :wait_writable, Deadline.in(DEADLINE)) until connection.sync_flush
        end

        def notified(connection)
          while (notification = connection.notifies)
            yield :message, notification[:extra]
          end
        end
      end
    end
  end
end
