# frozen_string_literal: true

# Metrics of a cache for monitoring systems: Prometheus, OpenMetrics, OpenTelemetry, Yabeda. Needs no gem of theirs.

require_relative "../larder"
require_relative "metrics/endpoint"
require_relative "metrics/reading"
require_relative "metrics/source"
require_relative "metrics/text"

module Larder
  # A Rack application that answers a scrape of Prometheus. The processes of a machine share the file, so any of them
  # answers for all: scrape each machine once.
  #
  # The page is open in development. Elsewhere it is not there until an option opens it; an option that is nil or empty
  # opens it nowhere. If the file cannot be used, `larder_up` is 0, and there are no other metrics but those of
  # sessions; also if Rails.cache is another store, which the description then names. A cache that was not used yet, and
  # so has no file, is not down. A scrape makes no file, and asks no server.
  #
  # @example In config/routes.rb
  #   # require "larder/metrics"
  #   # mount Larder::Metrics.new(token: ENV["LARDER_METRICS_TOKEN"]) => "/metrics"
  class Metrics
    extend Endpoint::ForClass
    include Endpoint

    autoload :Health, "larder/metrics/health"
    autoload :OpenTelemetry, "larder/metrics/open_telemetry"
    autoload :Yabeda, "larder/metrics/yabeda"

    class << self
      # Reads all metrics, for a system that has no class here.
      #
      # @param subject [ActiveSupport::Cache::LarderStore, String, Pathname, nil] a store, or the path of its file;
      #   nil: Rails.cache
      # @return [Array<Family>] without those of the cache but `larder_up` if its file cannot be used
      # @raise [ArgumentError] the subject is something else, or Rails.cache is another store
      # @example
      #   Larder::Metrics.read("none.larder").map { |family| [family.name, family.samples.first.value] }
      #   #=> [["larder_up", 1], ["larder_build_info", 1]]
      def read(subject = nil)
        source = Source.new(subject)
        Reading.families(source)
      ensure
        source&.close
      end

      # Writes all metrics in the text format of Prometheus, for other servers than Rack's.
      #
      # @param subject (see .read)
      # @param format [Symbol] :prometheus (0.0.4) or :openmetrics (1.0.0)
      # @return [String]
      # @raise (see .read)
      # @example
      #   Larder::Metrics.text("none.larder").lines[2] #=> "larder_up 1\n"
      def text(subject = nil, format: :prometheus)
        unless Text::FORMATS.key?(format)
          raise ::ArgumentError, "unknown format #{format.inspect}; known: :prometheus, :openmetrics"
        end

        Text.write(read(subject), format)
      end
    end

    # @param cache [ActiveSupport::Cache::LarderStore, String, Pathname, nil] a store, or the path of its file; nil:
    #   Rails.cache
    # @param given [Hash] one of: `allow:` a Proc that gets the request and answers whether it may see the page, or
    #   :route, if the routes of the application decide that; `password:` of HTTP basic authentication; `token:` of
    #   `Authorization: Bearer`
    # @raise [ArgumentError] the cache is something else, or an option is not known or has a wrong value
    # @example
    #   Larder::Metrics.new(cache: "shop.larder", token: "secret").call("REQUEST_METHOD" => "GET").first #=> 404
    def initialize(cache: nil, **given)
      @access = access(given)
      @source = Source.new(cache)
    end

    private

    def answer(env)
      format = Text.wanted(env["HTTP_ACCEPT"])
      response(200, Text::FORMATS.fetch(format), Text.write(Reading.collected(@source), format))
    end
  end
end
