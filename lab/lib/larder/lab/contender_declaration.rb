# frozen_string_literal: true

# Declares a contender: its name, the gems and the server that it needs, and when it is left out unless it is named.
# For cache stores, session stores and codecs.

require_relative "errors"

module Larder
  module Lab
    # Instances live only in worker processes; the command itself reads the class methods and loads no store.
    module ContenderDeclaration
      # What a class says of itself. Everything but name and title holds for its subclasses, too.
      module Declarations
        # @return [String] what users type
        attr_reader :key
        # @return [String] one line for `--list`
        attr_reader :title

        # @return [Hash{Symbol=>Object}] what it and its superclasses have declared
        def facts = @facts ||= superclass.respond_to?(:facts) ? superclass.facts.dup : {}

        # Facts with the values of a class that does not say.
        {
          server: nil, # name in Servers of the server that it talks to
          bundle: nil, # name of the Gemfile in lab/gemfiles that it has for itself
          gems: {}, # names and version requirements
          on_request?: false, # true: it takes part only where it is asked for by name
          slow_to_start?: false, # true: a quick run goes without it, unless it is asked for by name
          shared?: true, # whether all processes of a machine see the same values
          keeps_values?: true # false: each read is a miss by design (the null store)
        }.each { |name, usual| define_method(name) { facts.fetch(name, usual) } }

        # @return [Boolean] whether its times say something when they are divided by those of others
        def compared? = keeps_values?

        # Loads what processes of this row and of all others with its Gemfile need, before they are forked. Opens
        # nothing, and loads no store that is not theirs: no row runs with the code of another one.
        def preload(suite) = suite.preload.call

        # Declares a row that differs little from this one.
        # @yield in the class of that row
        def row(key, title, &declaration)
          Class.new(self) do
            class_eval(&declaration)
            named key, title
          end
        end

        private

        def named(key, title)
          @key = key
          @title = title
          registry.register(key, self)
        end

        # Where {named} puts it.
        def registry = facts.fetch(:registry) { Contenders }

        def registered_in(registry) = facts[:registry] = registry

        def needs_gem(name, *requirements) = facts[:gems] = { **gems, name => requirements }

        def needs_server(name) = facts[:server] = name

        # Its gems are resolved alone, because they exclude versions that others need, or not everybody has them.
        def bundled_apart(name) = facts[:bundle] = name

        def slow_to_start = facts[:slow_to_start?] = true

        def only_on_request = facts[:on_request?] = true

        def private_to_process = facts[:shared?] = false

        def keeps_nothing = facts[:keeps_values?] = false
      end

      # @param base [Class]
      # @return [void]
      def self.included(base) = base.extend(Declarations)

      # @param text [String] a URL, or an argument with one
      # @return [String] as it may be shown and recorded: without names and passwords
      def self.shown(text) = text.gsub(%r{(?<=://)\S*(?=@)}, "...").gsub(/(?<=password=)[^&\s]*/, "...")

      private

      # @raise [Unavailable] naming the missing gem and the command that gets it
      def activate_gems = self.class.gems.each { |name, requirements| activate(name, requirements) }

      def activate(name, requirements)
        gem(name, *requirements)
      rescue Gem::LoadError => error
        wanted = [name, *requirements].map { |word| "\"#{word}\"" }.join(", ")
        how = defined?(Bundler) && ENV["BUNDLE_GEMFILE"] ? "gem #{wanted} in the Gemfile" : "gem install #{name}"
        raise Unavailable, "the gem #{name} is missing: #{how} (#{error.message.lines.first.to_s.strip})"
      end

      def shown(url) = ContenderDeclaration.shown(url)
    end
  end
end
