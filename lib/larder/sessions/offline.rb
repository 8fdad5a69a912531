# frozen_string_literal: true

# Opens an application's file of sessions in a program without the application, as the command line is. Makes no file.

require_relative "../sessions"
require_relative "settings"
require_relative "backends/unbacked"

module Larder
  module Sessions
    # Lifetimes, and whether a store has copies, are read from the file, where the application has written them.
    module Offline
      # @example
      #   Larder::Sessions::Offline.open("/data/sessions.larder") { |statistics| statistics.stats[:signed_in] }
      #
      # @param path [String]
      # @param report [#call] told of errors that harm no session, as an Error
      # @yieldparam statistics [Statistics]
      # @yieldparam settings [Settings]
      # @return [Object] the block's
      # @raise [OpenError] if there is no file, or none that can be used
      # @raise [NoSettingsError]
      def self.open(path, report: Configuration.method(:report))
        Cache.open(path, create: false) do |cache|
          settings = Settings.read(cache) || raise(NoSettingsError, cache.path)
          backend = Backends::Unbacked.new(cache, backed: !settings.backed_by.nil?)
          repository = Repository.new(backend: backend, format: Format::Json, lifetimes: settings.lifetimes,
                                      report: report)
          repository.repair_counts&.join # it counts all sessions again
          yield Statistics.new(repository), settings
        end
      end
    end
  end
end
