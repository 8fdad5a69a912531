# frozen_string_literal: true

# bin/rails generate larder:install and its opposite, bin/rails destroy larder:install. configured_lines.rb changes the
# configuration, listed_lines.rb the ignore files and the routes. former_cache.rb and former_sessions.rb find options to
# carry over, and hidden_routes.rb finds the routes that a mount hides.

require "rails/generators"
require "rails/generators/base"
require_relative "configured_lines"
require_relative "former_cache"
require_relative "former_sessions"
require_relative "hidden_routes"
require_relative "listed_lines"
require_relative "session_middleware"
require_relative "text_file"

module Larder
  # Generators of Rails.
  module Generators
    # Configures a Rails application for Larder. Running it again changes nothing.
    class InstallGenerator < Rails::Generators::Base
      CACHE = "config.cache_store = :larder_store"
      APPLICATION = "config/application.rb"
      PRODUCTION = "config/environments/production.rb"
      SESSIONS = "config/initializers/session_store.rb"
      ROUTES = "config/routes.rb"
      # Ignore files: the pattern that each must have, and the file that shows that it is used. Git looks for a name in
      # every directory; Docker matches a pattern with the whole path. Podman reads .containerignore in place of
      # .dockerignore, so a new one would hide what that has.
      IGNORED = { ".gitignore" => ["*.larder*", ".git"], ".dockerignore" => ["**/*.larder*", "Dockerfile"],
                  ".containerignore" => ["**/*.larder*"] }.freeze
      # Files of Solid Cache, which uses the first that exists.
      SOLID = %w[config/cache.yml config/solid_cache.yml].freeze
      # A library and its mount, by the name of the option.
      MOUNTS = {
        dashboard: ["larder/dashboard",
                    'mount Larder::Dashboard.new(password: ENV["LARDER_PASSWORD"]) => "/larder"'],
        metrics:   ["larder/metrics",
                    'mount Larder::Metrics.new(token: ENV["LARDER_METRICS_TOKEN"]) => "/metrics"']
      }.freeze
      DASHBOARD_STEP = "Set LARDER_PASSWORD, the password for any user name: without it the dashboard is hidden, " \
                       "in development too"
      METRICS_STEP = "Set LARDER_METRICS_TOKEN, the bearer token of the collector: without it the metrics are " \
                     "hidden, in development too"
      private_constant :CACHE, :APPLICATION, :PRODUCTION, :SESSIONS, :ROUTES, :IGNORED, :SOLID, :MOUNTS,
                       :DASHBOARD_STEP, :METRICS_STEP

      namespace "larder:install"
      desc "Configures the Larder cache in production. Former lines stay as comments, and " \
           "bin/rails destroy larder:install brings them back; with --sessions, --dashboard or --metrics it removes " \
           "these alone. Running it again changes nothing."

      class_option :sessions, type: :boolean, default: false, desc: "Also store sessions in Larder"
      class_option :dashboard, type: :boolean, default: false, desc: "Mount the dashboard at /larder"
      class_option :metrics, type: :boolean, default: false, desc: "Mount the metrics for Prometheus at /metrics"

      # @return [void]
      def configure_cache
        return (restore(PRODUCTION, "cache_store") if everything?) if revoked?

        former = cache_statements
        return say_status(:identical, APPLICATION, :blue) if former.last&.first == APPLICATION && larders?(former)

        name_left_of_cache(former)
        store_cache(cache_line(former))
      end

      # @return [void]
      def configure_sessions
        return unless wanted?(:sessions)
        return session_files.each { |file| restore(file, "session_store") } if revoked?

        files = session_files
        name_left_of_sessions
        store_sessions(files)
        name_middleware(files.last || SESSIONS)
      end

      # @return [void]
      def ignore_files
        return if revoked? && !everything?

        IGNORED.each do |file, (pattern, reason)|
          next unless file?(file) || (!revoked? && reason && File.exist?(place(reason)))

          lines = ListedLines.new(file?(file) ? read(file) : "")
          revoked? ? keep(file, lines.without(pattern)) : write(file, lines.with(pattern))
        end
      end

      # @return [void]
      def mount
        wanted = MOUNTS.select { |name, _| wanted?(name) }.values
        return if wanted.empty? || (revoked? && !file?(ROUTES))
        return mount_by_hand("there is no #{ROUTES}", wanted) unless file?(ROUTES)

        text = read(ROUTES)
        left = wanted.reject { |library, line| mounts(text, library, line)&.then { |new| text = new } }
        write(ROUTES, text) if text != read(ROUTES) || left.empty?
        mount_by_hand("#{ROUTES} has no routes.draw on a line of its own", left) if left.any?
      end

      # @return [void]
      def explain
        return if options[:quiet]
        return name_what_stays if revoked?

        say "\nNext:", :green
        next_steps.each { |step| say "  #{step}" }
      end

      private

      def revoked?
        behavior == :revoke
      end

      # True if destroy has no options: it removes all parts.
      def everything?
        revoked? && [:sessions, *MOUNTS.keys].none? { |part| options[part] }
      end

      def wanted?(part)
        options[part] || everything?
      end

      def name_what_stays
        return if everything?

        say "\nOnly these parts were removed. bin/rails destroy larder:install without options removes everything."
      end

      # @return [String, nil] the routes with a mount, or without it; nil: it has no place
      def mounts(routes, library, line)
        lines = ListedLines.new(routes)
        return lines.unmounted(library, line) if revoked?

        changed = lines.mounted(library, line)
        changed == routes ? name_hidden_mount(line) : name_hidden_routes(line)
        changed
      end

      # The mount may be there already, after a route that answers all paths.
      def name_hidden_mount(line)
        return unless Rails.application

        HiddenRoutes.before(line[/\Amount ([\w:]+)/, 1], Rails.application).each do |path, routes|
          say_status :hidden, "#{routes.join(", ")} comes before the mount of #{path} and answers its pages: put the " \
                              "mount before it", :yellow
        end
      end

      # Rails has the routes as they are without the mount.
      def name_hidden_routes(line)
        return unless Rails.application

        path = line[/=> "(.+)"/, 1]
        hidden = HiddenRoutes.at(path, Rails.application)
        return if hidden.empty?

        say_status :hidden, "the mount of #{path} comes before #{hidden.join(", ")}: give one of them another path",
                   :yellow
      end

      def mount_by_hand(reason, mounts)
        by_hand(reason, ROUTES, mounts.map { |library, line| "require \"#{library}\"\n#{line}" }.join("\n"))
      end

      def store_cache(line)
        return by_hand("there is no #{PRODUCTION}", PRODUCTION, line) unless file?(PRODUCTION)

        configure([PRODUCTION], "cache_store", line) do |lines|
          lines.added(line) || by_hand("#{PRODUCTION} has no block that ends", PRODUCTION, line)
        end
      end

      # @param files [Array<String>] that configure them
      def store_sessions(files)
        return disabled if former_sessions.disabled?
        return write(SESSIONS, ConfiguredLines.alone(sessions_line)) if files.empty? && !file?(SESSIONS)

        configure(files.empty? ? [SESSIONS] : files, "session_store", sessions_line) do
          "#{read(SESSIONS).sub(/(?<!\n)\z/, "\n")}#{ConfiguredLines.alone(sessions_line)}"
        end
      end

      # Replaces the only statement, or adds one where there is none.
      #
      # @param files [Array<String>] that configure it, or the one where it is added
      # @yieldparam lines [ConfiguredLines] of the only file
      # @yieldreturn [String, nil] its new text
      def configure(files, name, line, &add)
        found = files.to_h { |file| [file, ConfiguredLines.new(read(file), name)] }
        statements = found.flat_map { |file, lines| lines.statements.map { |statement| [file, statement] } }
        return files.each { |file| write(file, read(file)) } if larders?(statements)

        file, lines = found.first
        text = case statements
               in [] then add.call(lines)
               in [[_, ConfiguredLines::Statement[replaceable: true] => one]] then lines.replaced(indented(line, one))
               else in_several_places(statements, name, line)
               end
        write(file, text) if text
      rescue ConfiguredLines::Unreadable => e
        by_hand("#{files.join(", ")}: #{e.message}", files.first, line)
      end

      # True if the store is Larder's: the last statement is in force, unless it is in a condition.
      def larders?(statements)
        in_force = statements.reverse.find { |file, _| production?(file) } || statements.last
        statements.any? { |_, one| one.larders? } && (in_force.last.larders? || !in_force.last.replaceable)
      end

      # True if Rails loads the file in production.
      def production?(file)
        file == PRODUCTION || !file.start_with?("config/environments/")
      end

      # An initializer names the application; a class or block of configuration does not.
      def indented(line, statement)
        statement.text.include?("Rails.application.") ? line : line.delete_prefix("Rails.application.")
      end

      def in_several_places(statements, name, line)
        places = statements.map { |file, statement| "#{file}:#{statement.first + 1}" }
        by_hand("#{name} is set in a condition or in several places (#{places.join(", ")})", statements.last.first,
                line)
      end

      def restore(file, name)
        return unless file?(file)

        keep(file, ConfiguredLines.new(read(file), name).restored)
      rescue ConfiguredLines::Unreadable => e
        say_status :skip, "#{file}: #{e.message}", :yellow
      end

      # @return [Array<String>] files that configure sessions
      def session_files
        configurations.select { |file| sessions?(file) }
      end

      # @return [Array<String>] in the order in which Rails loads them
      def configurations
        [APPLICATION, "config/environments/*.rb", "config/initializers/**/*.rb"]
          .flat_map { |files| Dir.glob(files, base: destination_root).sort }
      end

      def sessions?(file)
        read(file).include?("session_store") && ConfiguredLines.new(read(file), "session_store").statements.any?
      end

      # @return [String] with the options of the former store that mean the same
      def cache_line(statements)
        kept = kept_of_cache(statements)
        kept.empty? ? CACHE : "#{CACHE}, { #{named(kept)} }"
      end

      # @return [Hash{String=>String}] options of the only statement
      def kept_of_cache(statements)
        statements.one? ? former_cache(statements.first.last.text).kept : {}
      end

      def name_left_of_cache(statements)
        return if larders?(statements)

        caches = statements.to_h { |file, one| ["#{file}:#{one.first + 1}", former_cache(one.text)] }
        carried = kept_of_cache(statements).keys
        in_file = caches.values.flat_map { |one| one.left_in_file(carried) }.uniq
        name_left("cache", { **caches.transform_values { |one| one.left(carried) }, solid_file => in_file }, "")
      end

      # @return [FormerCache]
      def former_cache(text)
        FormerCache.new(text, solid_file && read(solid_file))
      end

      # @return [String, nil]
      def solid_file
        SOLID.find { |file| file?(file) }
      end

      # @return [Array<Array(String, ConfiguredLines::Statement)>] what configures the cache in production
      def cache_statements
        found = [PRODUCTION, APPLICATION].select { |file| file?(file) }.map do |file|
          ConfiguredLines.new(read(file), "cache_store").statements.map { |statement| [file, statement] }
        end
        found.find(&:any?) || []
      rescue ConfiguredLines::Unreadable # configure names it
        []
      end

      # In production a choice is required of what a loss of the file may cost.
      def sessions_line
        kept = former_sessions.any? ? former_sessions.kept : { "key" => own_cookie }.compact
        "Rails.application.config.session_store :larder_store, #{named({ **kept, "ephemeral" => "true" })}"
      end

      # @return [String, nil] the name of the cookie of an application that configures no sessions
      def own_cookie
        own = Rails.application&.railtie_name&.chomp("_application")
        "_#{own}_session".inspect if own
      end

      # @return [FormerSessions] those of production, in the order in which Rails loads them
      def former_sessions
        @former_sessions ||= FormerSessions.new(session_statements.map { |_, one| one.text })
      end

      def name_left_of_sessions
        return if larders?(session_statements)

        former = session_statements.to_h { |file, one| ["#{file}:#{one.first + 1}", FormerSessions.new([one.text])] }
        carried = ["key", *former_sessions.kept.keys]
        name_left("sessions", former.transform_values { |one| one.left(carried) }, "#sessions")
        return if former.values.uniq { |one| one.kept["key"] }.size < 2

        say_status :cookie, "the name of the cookie is that of #{former.keys.last}, which is loaded last", :yellow
      end

      # @param left [Hash{String=>Array<String>}] options by their places
      def name_left(former, left, chapter)
        left = left.reject { |_, names| names.empty? }
        return if left.empty?

        texts = left.map { |place, names| "#{names.join(", ")} (#{place})" }
        say_status :skip, "options of the former #{former} left out: #{texts.join(", ")}; see " \
                          "docs/guides/change-over.md#{chapter}", :yellow
      end

      # @return [String] options of Ruby; without parentheses, a block would be that of the statement
      def named(options)
        options.map { |name, value| "#{name}: #{value.match?(/\bdo\b/) ? "(#{value})" : value}" }.join(", ")
      end

      # @return [Array<Array(String, ConfiguredLines::Statement)>] what configures sessions in production, in the order
      #   in which Rails loads it
      def session_statements
        files = session_files
        production = files.select { |file| production?(file) }
        (production.empty? ? files : production).flat_map do |file|
          ConfiguredLines.new(read(file), "session_store").statements.map { |statement| [file, statement] }
        end
      end

      # The application has decided so.
      def disabled
        file, statement = session_statements.last
        by_hand("the application turns sessions off (#{file}:#{statement.first + 1})", file, sessions_line)
      end

      # @param file [String] that configures the sessions
      def name_middleware(file)
        middleware = SessionMiddleware.new(configurations.to_h { |one| [one, read(one)] })
        return if !api_only? || middleware.larders?

        lines = SessionMiddleware.lines(("Rails.application." unless file == APPLICATION))
        instead = ", in place of #{middleware.places.join(", ")}" if middleware.places.any?
        say_status :skip, "config.api_only leaves out the middleware of sessions: no request has one; put into " \
                          "#{file}, after config.session_store#{instead}:\n#{lines.join("\n")}", :yellow
      end

      def api_only?
        [APPLICATION, PRODUCTION].select { |file| file?(file) }
                                 .flat_map { |file| ConfiguredLines.new(read(file), "api_only").statements }
                                 .last&.text&.match?(/=\s*true\b/)
      rescue ConfiguredLines::Unreadable
        false
      end

      def next_steps
        [*cache_steps, "docs/guides/production.md: where the file is kept between deploys, and how large it is",
         *sessions_steps, *(DASHBOARD_STEP if options[:dashboard]),
         *(METRICS_STEP if options[:metrics])]
      end

      # The cache that the application has is not Larder's while a line is to be put in by hand.
      def cache_steps
        return [] if @left&.any? { |line| line.start_with?(CACHE) }

        ["bin/rails runner -e production 'p Rails.cache.write(\"larder\", 1)'   # creates the file",
         "RAILS_ENV=production bin/rails larder:doctor                        # checks it"]
      end

      def sessions_steps
        return [] unless options[:sessions]

        ["Sessions: users sign in again once, and after a crash of the machine. docs/guides/change-over.md: " \
         "migrate_from: keeps them signed in, backed_by: keeps a copy"]
      end

      def by_hand(reason, file, line)
        (@left ||= []) << line
        say_status :skip, "#{reason}; put into #{file}: #{line}", :yellow
        nil
      end

      def write(file, text)
        return say_status(:identical, file, :blue) if file?(file) && read(file) == text

        say_status file?(file) ? :update : :create, file
        return if options[:pretend]

        FileUtils.mkdir_p(File.dirname(place(file)))
        TextFile.write(place(file), text)
      end

      # Writes what is left of a file.
      def keep(file, text)
        return write(file, text) unless text.strip.empty?

        say_status :remove, file
        FileUtils.rm_f(place(file)) unless options[:pretend]
      end

      def place(file)
        File.join(destination_root, file)
      end

      def file?(file)
        File.file?(place(file))
      end

      def read(file)
        TextFile.read(place(file))
      end
    end
  end
end
