# frozen_string_literal: true

module Larder
  # Rack middleware. Marks the fiber that serves a web request: only a request does not wait long for a file that is
  # being created, or for a disk that hangs. The railtie puts it before all other middleware.
  #
  # @example In config.ru, without Rails
  #   # use Larder::WebRequest
  class WebRequest
    KEY = :larder_web_request
    private_constant :KEY

    # @return [Boolean] true if the caller serves a web request
    def self.current?
      Thread.current[KEY] ? true : false
    end

    # @param app [#call] the next Rack application
    def initialize(app)
      @app = app
    end

    # @return [Array] the application's answer
    def call(env)
      outer = Thread.current[KEY]
      Thread.current[KEY] = true
      @app.call(env)
    ensure
      Thread.current[KEY] = outer
    end
  end
end
