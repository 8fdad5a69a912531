# frozen_string_literal: true

# Finds the sessions that a dashboard shows: those of the file that it was given, or of the application.

require_relative "../bytes/absence"
require_relative "../sessions/offline"
require_relative "problem"

module Larder
  class Dashboard
    # Creates no file. A store that does not answer becomes a {Problem}.
    # @api private
    class SessionSource
      CONFIGURE = "config.session_store :larder_store"
      private_constant :CONFIGURE

      # @param visit [Visit]
      # @return [String] the name of the user of a request, see {Sessions::Identity}
      # @raise [Problem] none is named
      # @raise [InvalidArgument] it is not a name
      def self.user(visit)
        given = visit.param("user") # of a link: an id may begin or end with a space
        given = visit.param("typed").strip if given.empty?
        return Sessions::Identity.of(given) unless given.empty?

        raise Problem.new("No user is named", "Go to the sessions, and name the user there.")
      end

      # @param source [Source]
      def initialize(source)
        @source = source
      end

      # @return [Boolean] are there sessions to show? false also if that cannot be found out
      def any?
        of_file? || !Sessions.statistics_if_configured.nil?
      rescue Larder::Error
        false
      end

      # @yieldparam statistics [Sessions::Statistics]
      # @yieldparam settings [Sessions::Settings, nil] nil: these are the application's own
      # @return [Object] the block's value
      # @raise [Problem] there are no sessions, or their file cannot be used, or their store does not answer
      def use(&block)
        return Sessions::Offline.open(@source.path, &block) if of_file?

        statistics = of_application
        yield statistics
      rescue Problem, InvalidArgument
        raise
      rescue Sessions::UnavailableError => error
        raise Problem.new("The store of the sessions does not answer", error.message, status: 503)
      rescue Larder::Error, SystemCallError => error
        raise unusable(statistics, error)
      end

      private

      # The file of the sessions is seldom that of the cache.
      def unusable(statistics, error)
        file = statistics ? statistics.file : @source.path
        Problem.new("The sessions cannot be used", error.message,
                    ("larder doctor #{Remedy.quoted(file)}" if file), status: 503)
      end

      def of_file?
        @source.file? && @source.sessions?
      end

      def of_application
        statistics = Sessions.statistics_if_configured
        unless statistics
          raise Problem.new("There are no sessions to show",
                            "This application does not keep its sessions with Larder, or runs in another process. " \
                            "The dashboard also takes the path of a file of sessions as cache:.", CONFIGURE)
        end
        raise absent(statistics.file) unless statistics.file.nil? || File.exist?(statistics.file)

        statistics
      end

      def absent(file)
        error = Absence.of(file)
        return Problem.new("There are no sessions yet", error.message) if error.is_a?(Absence::NotUsed)

        Problem.new("The sessions have no file", error.message, "larder doctor #{Remedy.quoted(file)}", status: 503)
      end
    end
  end
end
