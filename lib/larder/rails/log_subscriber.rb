# frozen_string_literal: true

# Writes Larder's own events into the log of Rails, at the level "debug".

require "active_support/log_subscriber"

module Larder
  # The railtie attaches it if the log takes debug messages, or as `config.larder.log_events` says. It subscribes to no
  # event of Rails' own, so hits stay in C, except on Rails 7.1, where C sends no event.
  #
  #   Larder wait products/7 (12.3ms)
  #   Larder stale products/7 (stale_if_error)
  class LogSubscriber < ActiveSupport::LogSubscriber
    # A caller waited for a value that another one computes.
    # @param event [ActiveSupport::Notifications::Event]
    # @return [void]
    def wait(event)
      timed(event, event.payload[:hit] ? nil : "in vain")
    end

    # A caller computed a value while another one did, too.
    # @param (see #wait)
    # @return [void]
    def compute_alone(event)
      line(event, event.payload[:waited] ? "waited too long" : "could not wait")
    end

    # An expired value was the answer.
    # @param (see #wait)
    # @return [void]
    def stale(event)
      line(event, event.payload[:reason])
    end

    # A value was computed again while the old one was served.
    # @param (see #wait)
    # @return [void]
    def refresh(event)
      timed(event)
    end

    # Tags were deleted.
    # @param (see #wait)
    # @return [void]
    def delete_tagged(event)
      timed(event)
    end

    # Without it a store would collect the payload for a log that does not take it.
    %i[wait compute_alone stale refresh delete_tagged].each { |event| subscribe_log_level(event, :debug) }

    private

    def timed(event, more = nil)
      line(event, [format("%.1fms", event.duration), *more].join(", "))
    end

    def line(event, detail)
      name = color("Larder #{event.name.delete_suffix(".larder")}", YELLOW, bold: true)
      debug { "  #{name} #{key(event)} (#{detail})" }
    end

    # Keys may have any bytes.
    def key(event)
      Array(event.payload[:key]).map { |key| key.to_s.b.force_encoding(Encoding::UTF_8).scrub }.join(", ")
    end
  end
end
