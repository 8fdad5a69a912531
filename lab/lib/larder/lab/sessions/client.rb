# frozen_string_literal: true

# The process that requests pages over loopback: on each of its connections the next request follows the answer to the
# last one (a closed loop), until enough requests are answered. Started by PagesWorker.

require_relative "../answers"
require_relative "../clock"
require_relative "../histogram"
require_relative "../job"
require_relative "http"

module Larder
  module Lab
    module Sessions
      # Asks, and counts how long each answer takes.
      class Client
        include Answers
        include Clock

        # Requests over each connection before any is counted.
        WARMING = 10
        # Share of answers that may be broken. Puma since 6.1 breaks one now and then: the thread that has handed a
        # connection on empties the buffer that the next one writes its answer to.
        BREAKS = 0.02

        # Does the job.
        # @return [void]
        def self.main
          new(*Job.take).run
        end

        # @return [void]
        def run
          answering do
            connections = Array.new(@job["connections"]) { Http.new(@job["host"], @job["port"]) }
            @job["pages"].each { |page| ask(page, connections) }
            connections.each(&:close)
            {}
          end
        end

        private

        def ask(page, connections)
          together(connections) { |connection, number| visit(connection, page, number, WARMING) }
          share = @job["requests"].fdiv(connections.size).ceil
          started = now
          outcomes = together(connections) { |connection, number| visit(connection, page, number, share) }
          emit("block", page: page["path"], calls: share * connections.size, seconds: now - started,
                        broken: outcomes.sum(&:last), histogram: Histogram.merge(outcomes.map(&:first)).to_h)
        end

        # What each thread answers.
        def together(connections)
          connections.each_with_index.map do |connection, number|
            Thread.new do
              Thread.current.report_on_exception = false
              yield connection, number
            end
          end.map(&:value)
        end

        # Answers latencies, and how many answers were broken: those are asked for again.
        def visit(connection, page, number, count)
          path, cookies = page.values_at("path", "cookies")
          histogram = Histogram.new
          broken = 0
          while histogram.count < count
            cookie = cookies[((number * 7919) + histogram.count) % cookies.size] if cookies.any?
            begin
              request(connection, path, cookie, histogram)
            rescue Http::Broken => error
              broken += 1
              raise Invalid, "#{path} over HTTP, again and again: #{error.message}" if broken > (BREAKS * count) + 1
            end
          end
          [histogram, broken]
        end

        def request(connection, path, cookie, histogram)
          started = nanoseconds
          answer = connection.get(path, cookie)
          raise Invalid, "#{path} answered #{answer.status} over HTTP" unless answer.status == 200

          histogram.record(nanoseconds - started)
        end

        def nanoseconds
          Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
        end
      end
    end
  end
end

Larder::Lab::Sessions::Client.main if $PROGRAM_NAME == __FILE__
