# frozen_string_literal: true

# Makes and removes the lab's place in an SQL server, a private one or the user's: a schema or database with nothing
# but the lab's tables. Touches no other, and refuses one of that name that it did not make.

require_relative "../errors"

module Larder
  module Lab
    module Contenders
      # A place with a mark in it. In a server of the user's one process at a time has it, and drops it when it ends;
      # what a process has left that was killed, the next one drops. In a private server all processes share it, and it
      # goes with the server. A subclass speaks to its server: {#connect}, {#lock}, {#there?}, {#marked?}, {#create},
      # {#drop}.
      # @api private
      class OwnPlace
        # Of the schema or database. Processes that use a server of the user's at once have places of their own, whose
        # names end in a number.
        NAME = "larder_lab"
        # Of the table that says whose it is.
        MARK = "made_by_larder_lab"

        # Seconds that another process has for leaving its place.
        PATIENCE = 5

        # The name of the schema or database of this process.
        def self.name_in(endpoint)
          number = endpoint["place"].to_i
          number.zero? ? NAME : "#{NAME}_#{number}"
        end

        # @param url [String] of the server
        # @param shown [String] the same without secrets
        # @param name [String] of the schema or database
        def initialize(url, shown, name: NAME)
          @url = url
          @shown = shown
          @name = name
        end

        # The name of the schema or database.
        attr_reader :name

        # Has the place that another process made for this one, with everything in it, and drops it when this process
        # ends.
        def inherit
          @connection = connect
          limit = Process.clock_gettime(Process::CLOCK_MONOTONIC) + PATIENCE
          until lock
            raise taken if Process.clock_gettime(Process::CLOCK_MONOTONIC) > limit

            sleep 0.01
          end
          at_exit { drop }
        end

        # Has it, whether or not another process has made it.
        def share
          @connection = connect
          create unless there?
        end

        # Makes it, empty.
        def take
          @connection = connect
          raise taken unless lock
          raise Unavailable, "#{name} on #{@shown} is not the lab's: rename it" if there? && !marked?

          drop if there?
          create
          at_exit { drop }
        end

        private

        attr_reader :connection, :url, :shown

        def taken = Unavailable.new("another larder-lab is measuring on #{shown}: wait for its end")

        def no_answer(error) = Unavailable.new("no answer from #{shown}: #{error.message.lines.first.to_s.strip}")
      end
    end
  end
end
