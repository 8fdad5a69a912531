# frozen_string_literal: true

# Owns what the commands of `larder sessions` have in common: which file they are about, and what they say of a store
# behind it.

require_relative "../../application"
require_relative "../../sessions/offline"
require_relative "../command"
require_relative "../words"

module Larder
  module CLI
    class Sessions
      # A command about the sessions in a file.
      class Command < CLI::Command
        # Names the file where --file does not.
        VARIABLE = "LARDER_SESSIONS"
        # Where it is otherwise, as people are told.
        PLACE = "storage/larder/ENVIRONMENT/#{::Larder::Sessions::Configuration::FILE}".freeze
        private_constant :PLACE

        private

        # Of a command without options of its own: its BANNER.
        def parser
          @parser ||= explained(self.class::BANNER) { |options| options }
        end

        # @yieldparam options [OptionParser]
        def explained(banner, footer = nil)
          super do |options|
            yield options
            options.on("--file PATH", "default: $#{VARIABLE}, or", PLACE,
                       "of $RAILS_ENV, $RACK_ENV or development") { |path| @file = path }
          end
        end

        # @yieldparam sessions [::Larder::Sessions::Offline]
        # @return [Object] the block's
        # @raise [Failure, OpenError]
        def visit(&block)
          path = file
          missing(path) unless File.exist?(path)
          foreign(path, "sessions ...", who: "and its sessions to who") unless File.owned?(path)
          ::Larder::Sessions::Offline.open(path, report: ->(error) { @err.puts("larder: #{error.message}") }, &block)
        end

        def file
          @file ||= file_of(VARIABLE, ::Larder::Sessions::Configuration::FILE)
        end

        def missing(path)
          others = Dir[PLACE.sub("ENVIRONMENT", "*")]
          remedy = others.empty? ? "Go to the application's directory" : "There is #{others.join(", ")}: set $RAILS_ENV"
          place = " in #{Dir.pwd}" unless path.start_with?("/")
          raise Failure, "there is no file #{path}#{place}. The application makes it for its first session. " \
                         "#{remedy}, or name the application's file with --file or $#{VARIABLE}"
        end

        # One word beside the options.
        def only(rest, what)
          raise UsageError, "name #{what}" if rest.empty?
          raise UsageError, "name #{what}, and nothing else: #{rest[1]}" if rest.size > 1

          rest.first
        end

        def understood
          yield
        rescue ::Larder::InvalidArgument => error
          raise UsageError, error.message
        end

        # What ending sessions did not reach.
        def copies(settings)
          return [] unless settings.backed_by

          ["", "Copies are left in #{settings.backed_by}. The next requests of",
           "the application end them there, and so on other machines. Should this file be lost",
           "before, they would come back, until they expire there."]
        end
      end
    end
  end
end
