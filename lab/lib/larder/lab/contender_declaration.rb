# frozen_string_literal: true

# Declares a contender: its name, the gems and the server that it needs, and when it is left out unless it is named.
# For cache stores, session stores and codecs.

require_relative "errors"

module Larder
  module Lab
    # Instances live only in worker processes; the command itself reads the class methods and loads no store.
    module ContenderDeclaration
      # Facts that a class may declare, with the values of one that does not. Each has a reader.
      FACTS = {
        registry: nil, # where it is registered; nil: in {Contenders}
        server: nil, # name in Servers of the server that it talks to
        # Name of the Gemfile in lab/gemfiles that it has for itself: it excludes versions of others, or not everybody
        # has its gems.
        bundle: nil,
        gems: {}, # names, and version requirements: one, several, or none (nil)
        on_request: false, # true: it takes part only where it is asked for by name
        slow_to_start: false, # true: a quick run goes without it, unless it is asked for by name
        shared: true, # whether all processes of a machine see the same values
        keeps_values: true # false: each read is a miss by design (the null store)
      }.freeze

      # What a class says of itself. Everything but name and title holds for its subclasses, too.
      module Declarations
        # @return [String] what users type; one line for `--list`
        attr_reader :key, :title

        # @return [Hash{Symbol=>Object}] what it and its superclasses have declared
        def facts = @facts ||= superclass.respond_to?(:facts) ? superclass.facts.dup : {}

        FACTS.each do |name, usual|
          define_method([true, false].include?(usual) ? :"#{name}?" : name) { facts.fetch(name, usual) }
        end

        # @return [Boolean] whether its times say something when they are divided by those of others
        def compared? = keeps_values?

        # Loads what processes of this row and of all others with its Gemfile need, before they are forked. Opens
        # nothing, and loads no store that is not theirs: no row runs with the code of another one.
        def preload(suite) = suite.preload.call

        # Declares a row that differs little from this one.
        # @yield in the class of that row
        def row(key, title, **declared, &methods)
          Class.new(self) do
            class_eval(&methods) if methods
            named key, title, **declared
          end
        end

        private

        # Its name and title, and {FACTS}.
        def named(key, title, **declared)
          declares(**declared)
          @key = key
          @title = title
          (registry || Contenders).register(key, self)
        end

        # Gems are added to those of the superclass.
        def declares(**declared)
          unknown = declared.keys - FACTS.keys
          raise ArgumentError, "unknown fact #{unknown.first}; known: #{FACTS.keys.join(", ")}" if unknown.any?

          facts.update(declared) { |name, old, new| name == :gems ? { **old, **new } : new }
        end
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
