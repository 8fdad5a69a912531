# frozen_string_literal: true

# What the commands of `larder sessions` share: they find and open the file of sessions, and ask before they end many.

require_relative "../../sessions/offline"
require_relative "../file_command"

module Larder
  module CLI
    class Sessions
      # A command about the sessions in a file.
      class Command < CLI::FileCommand
        # Names the file where --file does not.
        VARIABLE = "LARDER_SESSIONS"
        # The file where neither does.
        PLACE = "storage/larder/ENVIRONMENT/#{::Larder::Sessions::Configuration::FILE}".freeze
        private_constant :PLACE

        private

        # @yieldparam options [OptionParser]
        def explained(banner, footer = nil)
          super do |options|
            yield options
            options.on("--file PATH", "default: $#{VARIABLE}, or", PLACE,
                       "of $RAILS_ENV, $RACK_ENV or development") { |path| @file = path }
          end
        end

        # The option of a command that calls {#confirm}.
        def yes(options)
          options.on("--yes", "do not ask") { @yes = true }
        end

        # Asks in a terminal. A program has to give --yes.
        #
        # @param command [String]
        # @param kind [Symbol] :signed_in or :anonymous
        # @param loss [String] what the users lose, as a sentence
        # @raise [UsageError] this is no terminal
        # @raise [Failure] the answer is no
        def confirm(command, kind, loss)
          return if @yes
          unless @input.tty?
            raise UsageError, "#{command} asks in a terminal whether you are sure; elsewhere give --yes"
          end

          count = visit { |statistics| statistics.stats[kind] }
          @err.puts("This ends #{Words.counted(count, "#{kind.to_s.tr("_", "-")} session")} in #{file}.")
          @err.print("#{loss} Go on? [y/N] ")
          raise Failure, "no session was ended" unless @input.gets.to_s.strip.match?(/\Ay(es)?\z/i)
        end

        # @yieldparam statistics [::Larder::Sessions::Statistics]
        # @yieldparam settings [::Larder::Sessions::Settings]
        # @return [Object] the block's
        # @raise [Failure, OpenError]
        def visit(&block)
          path = file
          missing(path) unless File.exist?(path)
          foreign(path, "sessions ...", who: "and its sessions to who") unless Obstacle.usable?(path)
          ::Larder::Sessions::Offline.open(path, report: ->(error) { @err.puts("larder: #{error.message}") }, &block)
        end

        def file
          @file ||= file_of(VARIABLE, ::Larder::Sessions::Configuration::FILE, "file of sessions")
        end

        def missing(path)
          no_file(path, "The application creates it for its first session. Go to the application's directory, or " \
                        "name its file with --file or $#{VARIABLE}. Sessions of cache: are in that store: ask in " \
                        "the application, as by rails runner 'p Larder::Sessions.stats'",
                  ::Larder::Sessions::Configuration::FILE)
        end

        # Tells how many sessions have ended, and that their copies in another store have not yet.
        #
        # @param machines [Hash] what --json tells besides
        # @param sentence [String] what people read
        def ended(count, settings, sentence, machines = {})
          copies = if settings.backed_by
                     ["", "Copies are left in #{settings.backed_by}. The application's next requests delete them. If",
                      "this file and its journal are lost before, the copies come back until they expire."]
                   end
          tell({ **machines, ended: count, copies_in: settings.backed_by }, sentence, *copies)
        end
      end
    end
  end
end
