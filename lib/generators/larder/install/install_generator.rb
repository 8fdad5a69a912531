# frozen_string_literal: true

# bin/rails generate larder:install and its opposite, bin/rails destroy larder:install. configured_lines.rb changes the
# configuration, listed_lines.rb the ignore files and the routes.

require "rails/generators"
require "rails/generators/base"
require_relative "configured_lines"
require_relative "former_sessions"
require_relative "hidden_routes"
require_relative "listed_lines"
require_relative "text_file"

module Larder
  # Generators of Rails.
  module Generators
    # Configures a Rails application for Larder. Running it again changes nothing.
    class InstallGenerator < Rails::Generators::Base
      CACHE = "config.cache_store = :larder_store"
      PRODUCTION = "config/environments/production.rb"
      SESSIONS = "config/initializers/session_store.rb"
      ROUTES = "config/routes.rb"
      # Ignore files: the pattern that each must have, and the file that shows that it is used. Git looks for a name in
      # every directory; Docker matches a pattern with the whole path.
      IGNORED = { ".gitignore" => ["*.larder*", ".git"], ".dockerignore" => ["**/*.larder*", "Dockerfile"] }.freeze
      # A library and its mount, by the name of the option.
      MOUNTS = {
        dashboard: ["larder/dashboard",
                    'mount Larder::Dashboard.new(password: ENV["LARDER_PASSWORD"]) => "/larder"'],
        metrics:   ["larder/metrics",
                    'mount Larder::Metrics.new(token: ENV["LARDER_METRICS_TOKEN"]) => "/metrics"']
      }.freeze
      # The name of the cookie in a statement that configures sessions.
      COOKIE = /\bkey:\s*("[^"]*"|'[^']*')/
      DASHBOARD_STEP = "Set LARDER_PASSWORD, the password for any user name: without it the dashboard is hidden, " \
                       "in development too"
      METRICS_STEP = "Set LARDER_METRICS_TOKEN, the bearer token of the collector: without it the metrics are " \
                     "hidden, in development too"
      private_constant :CACHE, :PRODUCTION, :SESSIONS, :ROUTES, :IGNORED, :MOUNTS, :COOKIE, :DASHBOARD_STEP,
                       :METRICS_STEP

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
        return by_hand("there is no #{PRODUCTION}", PRODUCTION, CACHE) unless file?(PRODUCTION)

        configure([PRODUCTION], "cache_store", CACHE) do |lines|
          lines.added(CACHE) || by_hand("#{PRODUCTION} has no block that ends", PRODUCTION, CACHE)
        end
      end

      # @return [void]
      def configure_sessions
        return unless wanted?(:sessions)
        return session_files.each { |file| restore(file, "session_store") } if revoked?

        files = session_files
        name_left_options
        return write(SESSIONS, ConfiguredLines.alone(sessions_line)) if files.empty? && !file?(SESSIONS)

        configure(files.empty? ? [SESSIONS] : files, "session_store", sessions_line) do
          "#{read(SESSIONS).sub(/(?<!\n)\z/, "\n")}#{ConfiguredLines.alone(sessions_line)}"
        end
      end

      # @return [void]
      def ignore_files
        return if revoked? && !everything?

        IGNORED.each do |file, (pattern, reason)|
          next unless file?(file) || (!revoked? && File.exist?(place(reason)))

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
        name_hidden_routes(line) unless changed == routes
        changed
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

      # Replaces the only statement, or adds one where there is none.
      #
      # @param files [Array<String>] that configure it, or the one where it is added
      # @yieldparam lines [ConfiguredLines] of the only file
      # @yieldreturn [String, nil] its new text
      def configure(files, name, line, &add)
        found = files.to_h { |file| [file, ConfiguredLines.new(read(file), name)] }
        return files.each { |file| write(file, read(file)) } if found.values.any?(&:larders?)

        statements = found.flat_map { |file, lines| lines.statements.map { |statement| [file, statement] } }
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
        Dir[place("config/{application,initializers/**/*,environments/*}.rb")].sort.map { |path| relative(path) }
                                                                             .select { |file| sessions?(file) }
      end

      def sessions?(file)
        read(file).include?("session_store") && ConfiguredLines.new(read(file), "session_store").statements.any?
      end

      # In production a choice is required of what a loss of the file may cost.
      def sessions_line
        options = FormerSessions.new(session_statements).kept
        key = options.delete("key") || cookie
        ["Rails.application.config.session_store :larder_store", *("key: #{key}" if key),
         *options.map { |name, value| "#{name}: #{value}" }, "ephemeral: true"].join(", ")
      end

      # @return [String, nil] the name of the cookie, as Ruby has it: that of the former sessions, or Rails' default
      def cookie
        former = session_statements.filter_map { |text| text[COOKIE, 1] }
        own = Rails.application&.railtie_name&.chomp("_application")
        former.first || ("_#{own}_session".inspect if own)
      end

      def name_left_options
        left = FormerSessions.new(session_statements).left
        return if left.empty?

        say_status :skip, "options of the former sessions left out: #{left.join(", ")}; see " \
                          "docs/guides/change-over.md#sessions", :yellow
      end

      # @return [Array<String>] statements that configure sessions
      def session_statements
        session_files.flat_map { |file| ConfiguredLines.new(read(file), "session_store").statements.map(&:text) }
      end

      def next_steps
        [*cache_steps, "docs/guides/production.md: where the file is kept between deploys, and how large it is",
         *sessions_steps, *(DASHBOARD_STEP if options[:dashboard]),
         *(METRICS_STEP if options[:metrics])]
      end

      # The cache that the application has is not Larder's while a line is to be put in by hand.
      def cache_steps
        return [] if @left&.include?(CACHE)

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

      def relative(path)
        path.delete_prefix("#{destination_root}/")
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
