# frozen_string_literal: true

# Owns sessions as a program sees them that has their file and not their application, as the command line has. It makes
# no file, and takes for alive what the application does.

require_relative "../sessions"
require_relative "settings"
require_relative "backends/file"
require_relative "backends/detached"

module Larder
  module Sessions
    # The questions of {Statistics}, and what ends sessions.
    #
    # @example
    #   Larder::Sessions::Offline.open("/data/sessions.larder") { |offline| offline.stats[:signed_in] }
    class Offline
      # @return [Settings] of the application
      attr_reader :settings
      # @return [String] of the file
      attr_reader :path

      # @param path [String]
      # @param report [#call] told of what went wrong, as an Error
      # @yieldparam offline [Offline]
      # @return [Object] the block's
      # @raise [OpenError] if there is no file, or none that can be used
      # @raise [NoSettingsError]
      def self.open(path, report: Configuration.method(:report))
        Cache.open(path, create: false) do |cache|
          offline = new(cache, report: report)
          begin
            yield offline
          ensure
            offline.leave
          end
        end
      end

      # @param cache [Cache]
      # @param report [#call] told of what went wrong, as an Error
      # @raise [NoSettingsError]
      def initialize(cache, report:)
        @path = cache.path
        @settings = Settings.read(cache) || raise(NoSettingsError, cache.path)
        backend = (settings.backed_by ? Backends::Detached : Backends::File).new(cache)
        @repository = Repository.new(backend: backend, format: Format::Json, lifetimes: settings.lifetimes,
                                     report: report)
        @statistics = Statistics.new(@repository)
      end

      # @return [Hash{Symbol => Integer, Float}] see {Sessions.stats}
      def stats
        @repository.index.repair_counts&.join
        @statistics.stats
      end

      # @param last [Numeric] seconds
      # @param signed_in [Boolean, nil] only of those who are, or are not; nil: all
      # @return [Integer] see {Sessions.active}
      # @raise [InvalidArgument]
      def active(last:, signed_in: nil)
        @repository.index.repair_counts&.join
        @statistics.active(last: last, signed_in: signed_in)
      end

      # @param last [Numeric] seconds
      # @param limit [Integer, nil] users, nil: all
      # @return [Hash{String => Time}] see {Sessions.online}
      # @raise [InvalidArgument]
      def online(last:, limit:)
        @statistics.online(last: last, limit: limit)
      end

      # @param user [String]
      # @return [Array<Info>] see {Sessions.for}
      # @raise [InvalidArgument]
      def for(user)
        @statistics.for(user)
      end

      # @param user [String]
      # @return [Time, nil] see {Sessions.last_seen}
      # @raise [InvalidArgument]
      def last_seen(user)
        @statistics.last_seen(user)
      end

      # @param handle [String]
      # @return [Boolean] see {Sessions.revoke}
      def revoke(handle)
        @statistics.revoke(handle)
      end

      # Also of those sessions that this file has lost, and a store behind it has not.
      #
      # @param user [String]
      # @param except [String, nil] a handle
      # @return [Integer] see {Sessions.logout}
      # @raise [InvalidArgument]
      def logout(user, except: nil)
        unless except.nil? || self.for(user).any? { |info| info.handle == except }
          raise InvalidArgument, "#{except} is no handle of a session of #{user}"
        end

        @statistics.logout(user, except: except)
      end

      # @return [Integer] see {Sessions.logout_all}
      def logout_all
        @statistics.logout_all
      end

      # @return [Integer] see {Sessions.clear_anonymous}
      def clear_anonymous
        @statistics.clear_anonymous
      end

      # @return [void] see {Sessions.recount}
      def recount
        @statistics.recount
      end

      # Signs this process off that has changed the counts.
      # @return [void]
      def leave
        @repository.index.leave
      end
    end
  end
end
