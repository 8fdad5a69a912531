# frozen_string_literal: true

# Builds the section about several machines: whether Larder is to be before the server, and the lines for that.

require_relative "../../document"
require_relative "../../layered/fleet"
require_relative "../../reports/figures"
require_relative "../arrangements"

module Larder
  module Lab
    module Advice
      module Sections
        # One server for all, or one for each region; alone, or behind Larder.
        class Machines
          Figures = Reports::Figures
          COLUMNS = [["", "text"], ["read", "seconds"], ["write", "seconds"], ["a call", "seconds"],
                     ["seen in", "seconds"], ["at most", "seconds"]].freeze
          # Bytes of a key, of which nothing is said.
          KEY_BYTES = 40

          # @param arrangements [Arrangements]
          # @param configuration [Configuration, nil] of the server
          def initialize(arrangements, configuration)
            @arrangements = arrangements
            @question = arrangements.question
            @configuration = configuration
          end

          # @return [Array<Document::Section>]
          def to_a
            return [] unless @arrangements.any?

            blocks = [table, *against, *lines]
            [Document::Section.new(title: "Several machines: Larder before #{@arrangements.remote.store}",
                                   blocks: blocks)]
          end

          # @return [Array<String>]
          def conclusions
            return [] unless @arrangements.any?

            best = @arrangements.best
            return [stay(best)] unless best.layered?

            ["Put Larder before it, with#{"out" unless best.backplane} a backplane#{servers(best)}: " \
             "#{duration(@arrangements.mean(best))} a call in place of " \
             "#{duration(@arrangements.mean(@arrangements.alone))}, if files answer #{percent(@question.hit_ratio)} " \
             "of the reads. Another machine sees a change after #{duration(best.usual)}, and after " \
             "#{duration(best.bound)} whatever fails."]
          end

          private

          def servers(arrangement)
            return if @question.regions == 1

            arrangement.each? ? ", and a server in each region" : ", and one server for all regions"
          end

          def stay(best)
            layered = @arrangements.all.select(&:layered?)
            faster = layered.select { |each| @arrangements.mean(each) < @arrangements.mean(best) }
            why = faster.filter_map(&:reason).first || "a call would not be faster"
            "Larder before it is not advised: #{why}.#{" Take a server in each region." if best.each?}"
          end

          def table
            rows = @arrangements.all.map do |each|
              mark = " †" if each.reason
              ["#{each.title}#{mark}", each.read, each.write, @arrangements.mean(each), each.usual, each.bound]
            end
            Document::Table.build(columns: COLUMNS.map { |title, form| { title: title, format: form } }, rows: rows,
                                  notes: notes)
          end

          def notes
            ["Sums of the parts: a hit in the file #{duration(@arrangements.hit)}, for " \
             "#{percent(@question.hit_ratio)} of the reads (--hit-ratio); a miss is a read of the server. A write " \
             "goes to the server, to the file, and with a backplane to that.",
             "seen in: the time in which another machine usually sees a change; at most: whatever fails (--stale).",
             ("one: a server for all regions; each: one in each region." if @question.regions > 1),
             ("†: not possible, see below." if @arrangements.all.any?(&:reason)), load].compact
          end

          def load
            fleet = Layered::Fleet.new(machines: @question.hosts, changes: @question.changes, key_bytes: KEY_BYTES)
            "A backplane delivers #{Figures.significant(fleet.messages)} messages a second at " \
              "#{@question.said(:changes)} changes, #{Figures.bits(fleet.message_traffic * 8)}. Connections: " \
              "see the guide \"Many machines\"."
          end

          def against
            reasons = @arrangements.all.select(&:reason).group_by(&:reason)
            return [] if reasons.empty?

            items = reasons.map { |reason, ways| "#{ways.map(&:title).join("; ")}: #{reason}" }
            [Document::List.new(items: items)]
          end

          def lines
            best = @arrangements.best
            return [] unless best.layered?

            [Document::Code.new(text: code(best), language: "ruby"), Document::Prose.new(text: words(best))]
          end

          def code(best)
            options = { remote: @configuration.element, backplane: (backplane if best.backplane),
                        local_expires_in: format("%g", best.bound) }.compact
            "# Gemfile\n#{gems(best)}\n# config/environments/production.rb\nconfig.cache_store = :larder_store, {\n" \
              "#{options.map { |name, value| "  #{name}: #{value}" }.join(",\n")}\n}\n"
          end

          # A Redis or Valkey is the backplane of memcached.
          def gems(best)
            gem = "gem \"redis\"\n" if best.backplane && !@arrangements.remote.store.start_with?("solid_cache")
            ["gem \"larder\"\n", *@configuration.gemfile.to_s.lines, gem].compact.uniq.join
          end

          def backplane
            "ENV.fetch(\"#{@arrangements.remote.store.start_with?("solid_cache") ? "DATABASE_URL" : "REDIS_URL"}\")"
          end

          def words(best)
            each = " Each region has its own servers." if best.each?
            "These lines replace those below, and were not run here; `larder-lab machines` measures the arrangement." \
              "#{each}#{another_server if best.backplane}"
          end

          # memcached passes on no messages.
          def another_server
            " REDIS_URL is the address of a Redis or Valkey." if @arrangements.remote.store == "memcached"
          end

          def duration(seconds)
            seconds ? Figures.duration(seconds) : "never"
          end

          def percent(share)
            Figures.percent(share)
          end
        end
      end
    end
  end
end
