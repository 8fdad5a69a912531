# frozen_string_literal: true

# The protocol of `larder-lab session-stats`: that of `sessions`, except that a contender and its A/A control query the
# same sessions, which are loaded once.

require_relative "../sessions/rounds"
require_relative "population"
require_relative "stores"

module Larder
  module Lab
    module SessionStats
      # Runs a plan.
      class Rounds < Sessions::Rounds
        SCRIPT = "../session_stats/worker.rb"
        private_constant :SCRIPT

        private

        def rounds
          @at = Population.moment(Time.now.to_i)
          super
        end

        def place(row)
          dir = File.join(@scratch.path, row.contender)
          Dir.mkdir(dir, 0o700) unless File.directory?(dir)
          yield dir
        end

        def work(row, round, dir, &block)
          type = Stores.fetch(row.contender)
          host = host(type.server)
          row.server = host.server.recorded if host.server
          job = { store: row.contender, requires: @plan.requires, dir: dir, endpoint: host.endpoint, space: "",
                  seed: @plan.seed + round, at: @at, **@plan.settings }
          host.attend { process(SCRIPT, job, type).run(&block) }
        end

        def keep(row, round, position, event)
          size = Reports::Figures.thousands(event["size"]) if event["size"]
          case event["event"]
          when "loading" then @progress.detail("#{Reports::Figures.thousands(event["loaded"])} of #{size} loaded")
          when "loaded" then @progress.note("#{row.name}: #{size} sessions loaded in " \
                                            "#{Reports::Figures.duration(event["seconds"])}")
          end
          super unless event["event"] == "loading"
        end
      end
    end
  end
end
