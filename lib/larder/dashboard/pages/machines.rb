# frozen_string_literal: true

# The page of machines: which share the remote store, whether their copies are trusted, and what waits.

require_relative "../machine_words"
require_relative "../session_source"

module Larder
  class Dashboard
    module Pages
      # The machines that have published their status. This one is asked itself.
      class Machines < Page
        EXAMPLE = "config.cache_store = :larder_store, { remote: [:redis_cache_store, { url: ENV[\"REDIS_URL\"] }], " \
                  "backplane: ENV[\"REDIS_URL\"] }"
        private_constant :EXAMPLE

        # @param visit [Visit]
        # @return [Boolean] is there a store that machines share?
        def self.listed?(visit)
          !visit.source.store&.remote.nil?
        rescue Problem
          false
        end

        # @return [String]
        def title
          "Machines"
        end

        # @param html [Html]
        # @return [void]
        def body(html)
          store = visit.source.store
          store&.remote ? machines(html, store) : none(html, store)
          sessions(html)
        end

        private

        def none(html, store)
          html.section(class: "card") do
            html.h2("No store is shared")
            unless store
              html.p("This dashboard was given a file. Only a process of the application knows whether a store is " \
                     "behind it: mount the dashboard there.")
              next
            end

            html.p("This cache is that of one machine. With remote: several machines share a store, and each has " \
                   "copies in its file. This page then shows all of them.")
            html.p { html.code(EXAMPLE, class: "command") }
          end
        end

        # ---- the cache ----

        def machines(html, store)
          cache # raises if there is no file, which the calls below would create
          found, problem = statuses(store)
          html.section(class: "card", aria: { labelledby: "machines" }) do
            html.h2(Words.counted(found.size, "machine"), id: "machines")
            html.p("They share #{store.remote.store.class.name}#{backplane(found.first)}.", class: "small")
            html.p(problem, class: "answer") if problem
            table(html, "Machines", columns, found)
            html.p("A machine publishes its status once a minute, if it answers requests or jobs. An hour after the " \
                   "last one it is no longer listed. Hits are those of its file in the last hour.", class: "small")
          end
        end

        # @return [Array(Array<Store::MachineStatus>, String)] and why there is only this machine; nil: there are all
        def statuses(store)
          [store.level.roster.all, nil]
        rescue RemoteError => error
          [[store.level.roster.own], "The other machines are not known: #{error.message}."]
        end

        def backplane(status)
          status.backplane ? " and a backplane" : ", without a backplane: copies are used for a fixed time"
        end

        def columns
          [column("Machine") { |out, status| name(out, status) },
           column("State", "text wide") { |out, status| state(out, status) },
           column("Seen", sort: ->(status) { -status.age }) { |_, status| MachineWords.new(status).seen },
           column("Processes", :number) { |_, status| number(status.processes) },
           column("Items", :number) { |_, status| number(status.items) },
           column("Full", :number) { |_, status| percent(status.fullness) },
           column("Hits", :number) { |_, status| percent(status.hit_ratio) },
           column("Larder") { |_, status| KeyText.shown(status.larder) }]
        end

        def name(out, status)
          out.strong(KeyText.shown(status.host))
          out.text(" this machine") if status.here
          out.p(KeyText.shown(status.path), class: "small")
        end

        def state(out, status)
          words = MachineWords.new(status)
          out.div do
            out.p("When it was last seen:", class: "small") if words.old?
            lines(out, words.lines)
          end
        end

        def lines(out, lines)
          lines.each { |line| out.p(line.text, class: ("bad" unless line.good)) }
        end

        def number(count)
          count ? Brief.count(count) : "–"
        end

        def percent(share)
          share ? Words.percent(share) : "–"
        end

        # ---- sessions ----

        def sessions(html)
          remote = remote_of_sessions or return
          words = MachineWords.of_store(remote)
          html.section(class: "card", aria: { labelledby: "sessions" }) do
            html.h2("Sessions of this machine", id: "sessions")
            html.p("Their store is #{remote[:store]}.", class: "small")
            lines(html, words)
          end
        end

        # Those of a file that is not there are not opened, as that creates it.
        def remote_of_sessions
          statistics = ::Larder::Sessions.statistics_if_configured
          statistics.remote if statistics && (statistics.file.nil? || File.exist?(statistics.file))
        rescue Larder::Error
          nil
        end
      end
    end
  end
end
