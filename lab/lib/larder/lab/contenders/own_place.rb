# frozen_string_literal: true

# Makes and removes the lab's place in an SQL server, a private one or the user's: a schema or database with nothing
# but the lab's tables. Touches no other, and refuses one of that name that it did not make.

require_relative "../errors"
require_relative "../job"

module Larder
  module Lab
    module Contenders
      # A place with a mark in it. In a server of the user's one process at a time has it, and drops it when it ends;
      # what a process has left that was killed, the next one drops. In a private server all processes share it, and it
      # goes with the server. A subclass speaks to its server: {#connect}, {#lock}, {#there?}, {#marked?}, {#create},
      # {#drop}.
      class OwnPlace
        # Of the schema or database.
        NAME = "larder_lab"
        # Of the table that says whose it is.
        MARK = "made_by_larder_lab"

        # @param url [String] of the server
        # @param shown [String] the same without secrets
        def initialize(url, shown)
          @url = url
          @shown = shown
        end

        # Has it, whether or not another process has made it.
        # @return [void]
        # @raise [Unavailable] if the server does not answer
        def share
          @connection = connect
          create unless there?
        end

        # Makes it, empty.
        # @return [void]
        # @raise [Unavailable] if the server does not answer or does not let us, or the place is another's
        def take
          @connection = connect
          raise Unavailable, "another larder-lab is measuring on #{@shown}: wait for its end" unless lock
          raise Unavailable, "#{NAME} on #{@shown} is not the lab's: rename it" if there? && !marked?

          drop if there?
          create
          Job.finally { drop }
        end

        private

        attr_reader :connection, :url, :shown

        def no_answer(error)
          Unavailable.new("no answer from #{shown}: #{error.message.lines.first.to_s.strip}")
        end
      end
    end
  end
end
