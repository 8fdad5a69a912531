# frozen_string_literal: true

# The base of the session stores that are compared: how an application would configure each, and what it needs
# beforehand. One subclass for each store, in stores/. A {ContenderDeclaration} declares its name, gems and server.

require "securerandom"
require_relative "../contender_declaration"

module Larder
  module Lab
    module Sessions
      # A session store as `config.session_store NAME, **OPTIONS` names it. A subclass implements {#name} and
      # {#options}; it overrides {#connect} where a server must be looked after first, {#definitions} where classes are
      # needed that Rails does not find by itself, and {#ready} where something else must be done before the first
      # request. The command itself reads the class methods; instances live in worker processes.
      #
      # @example
      #   class MyStore < Larder::Lab::Sessions::Store
      #     named "mine", "My own session store"
      #     needs_gem "my_store"
      #
      #     def name = :my_store
      #     def options = { path: File.join(dir, "sessions") }
      #   end
      class Store
        include ContenderDeclaration

        # Seconds that sessions live in a server of the user's.
        EXPIRY = 3600
        # Connections of a pool, where there is one: as many as Rails has by default.
        POOL = 5

        class << self
          private

          def registry
            Stores
          end
        end

        # @return [Application] after {#open}
        attr_reader :application
        # @return [Visitors] after {#open}
        attr_reader :visitors

        # @param dir [String] a directory of its own
        # @param endpoint [Hash{String=>Object}, nil] where its server listens, see {Endpoint}
        # @param companion [Hash{String=>Object}, nil] where the application's database listens
        def initialize(dir:, endpoint: nil, companion: nil, **)
          @dir = dir
          @endpoint = endpoint
          @companion = companion
          @space = "larder-lab:#{SecureRandom.hex(4)}:"
        end

        # Boots the application with this store, and loads sessions.
        # @return [self]
        # @raise [Unavailable] naming what is missing and how to get it
        def open
          activate("actionpack", [">= 7.1"])
          activate_gems
          connect
          require_relative "application"
          require_relative "visitors"
          @application = Application.new(self, dir, @companion)
          @visitors = Visitors.new(self, application.stack)
          visitors.arrive
          self
        rescue LoadError => error
          raise Unavailable, "its gems are not all there: lab/gemfiles/#{self.class.bundle}.gemfile names them " \
                             "(#{error.message})"
        end

        # @param values [Integer] sessions that must be there
        # @return [void]
        # @raise [Invalid]
        def prove(values)
          visitors.prove(values)
        end

        # Sessions stay between blocks.
        # @return [void]
        def clear; end

        # @return [Symbol] as `config.session_store` takes it
        def name
          raise NotImplementedError, "#{self.class} does not say how Rails calls it"
        end

        # @return [Hash{Symbol=>Object}] its own options, plain data
        def options
          {}
        end

        # @return [Array<String>] paths of Ruby files that define what {#name} and {#options} stand for
        def definitions
          []
        end

        # Does what must be done once {#definitions} are loaded and before the first request.
        # @return [void]
        # @raise [Unavailable]
        def ready; end

        # @return [Boolean] whether a session is kept anywhere but with its user
        def keeps?
          true
        end

        # Begins sessions, each by a request. Overridden where that takes long, and there is a shorter way.
        # @param stack [Stack]
        # @param numbers [Array<Integer>]
        # @return [Array<String>] their cookies
        # @raise [Invalid]
        def fill(stack, numbers)
          numbers.map { |number| stack.begin_session(number) }
        end

        # @return [Hash{Symbol=>Object}] for the record, without secrets
        def recorded
          { store: name, options: options }
        end

        private

        attr_reader :dir, :endpoint, :space

        # Loads a driver, and sees that the server answers.
        # @raise [Unavailable]
        def connect; end

        # In a server of the user's nothing stays for ever, and nobody's keys are met.
        def apart?
          endpoint && !endpoint["private"]
        end
      end
    end
  end
end
