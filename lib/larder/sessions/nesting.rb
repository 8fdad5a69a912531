# frozen_string_literal: true

# Keeps Larder's sessions apart from those of another session middleware in the same request, as Sinatra's
# `enable :sessions` or the sessions of a mounted engine.

require "rack"
require_relative "errors"

module Larder
  module Sessions
    # The application uses a second session middleware behind Larder's. Reported once, never raised.
    class NestedSessionsError < Error
      # @param request [String] method and path
      def initialize(request)
        super("another session middleware, behind Larder's, made a session of its own for #{request}. It stores a " \
              "copy of the values of Larder's session: a user who signs out stays signed in there. Values that the " \
              "application adds to it are not in Larder's session. Remove it: in Sinatra by disable :sessions or " \
              "set :session_store, Rack::Session::Larder; elsewhere the line use Rack::Session::Cookie")
      end
    end

    # A middleware shows the application its own session in the place of the one that is there, and takes over the
    # values of that. Most of them leave their session there when they have answered, and the middleware before them
    # then stores those values under that session's id. So a session that has ended comes back by the cookie of the
    # other one, and an id that an attacker has planted there opens it. When Larder's middleware has answered, it puts
    # the session of the other back, and it stores its own session only.
    #
    # Values that the inner session has changed or removed are changed or removed in the outer one. Values that it has
    # beyond these may be of a session that has ended, and are ignored.
    module Nesting
      # The places of a session and its options in the env.
      PLACES = [Rack::RACK_SESSION, Rack::RACK_SESSION_OPTIONS].freeze
      # A session's id is not one of its values.
      ID = "session_id"
      private_constant :PLACES, :ID

      # For the session classes of Rack and Rails. An inner middleware puts its session into the env before it takes
      # over the values of this one, which may load only then: with the id and options that are in the env.
      module Lazy
        # @return [Hash, nil] the part of the env that has this session and its options
        attr_writer :places

        # @return [Boolean]
        def exists?
          in_place { super }
        end

        private

        def load!
          in_place { super }
        end

        def in_place
          return yield if @places.nil?

          env = @req.env
          return yield if env[Rack::RACK_SESSION].equal?(self)

          inner = env.slice(*PLACES)
          begin
            env.update(@places)
            yield
          ensure
            env.update(inner)
          end
        end
      end

      module_function

      # Runs the block, which puts a session of its own into the env of a middleware that has one.
      #
      # @param env [Hash]
      # @param state [Array<String>] keys of the env that the block uses
      # @yieldreturn [Array]
      # @return [Array] the block's
      def inside(env, state)
        outer = env[Rack::RACK_SESSION]
        return yield unless outer.respond_to?(:options)

        values = outer.to_hash.except(ID) # loads it, before the block uses the same keys of the env
        before = env.slice(*PLACES, *state)
        begin
          state.each { |name| env.delete(name) }
          env[Rack::RACK_SESSION] = values
          yield.tap { take(outer, env[Rack::RACK_SESSION]) unless skipped?(env) }
        ensure
          state.each { |name| env.delete(name) }
          env.update(before)
        end
      end

      # Runs the block, the application, which may put another session in the place of this one. A session that is not
      # to be stored, as Rails has one for a request without a valid token, stays there.
      #
      # @param env [Hash]
      # @param once [Once] called with a {NestedSessionsError}
      # @yieldreturn [Array]
      # @return [Array] the block's
      def outside(env, once)
        before = env.slice(*PLACES)
        before[Rack::RACK_SESSION].places = before
        yield.tap do
          inner = env[Rack::RACK_SESSION]
          next if inner.equal?(before[Rack::RACK_SESSION]) || skipped?(env)

          env.update(before)
          take(env[Rack::RACK_SESSION], inner) && once.call(NestedSessionsError) do
            NestedSessionsError.new("#{env["REQUEST_METHOD"]} #{env["PATH_INFO"]}")
          end
        end
      end

      def skipped?(env)
        env[Rack::RACK_SESSION_OPTIONS]&.[](:skip)
      end

      # @return [Boolean] false: the other session is not one of a middleware
      def take(session, from)
        return false unless from.respond_to?(:loaded?) && from.loaded?

        values = from.to_hash
        session.to_hash.each do |key, value|
          next if value == values[key] || key == ID

          values.key?(key) ? session[key] = values[key] : session.delete(key)
        end
        true
      end
      private_class_method :skipped?, :take
    end
  end
end
