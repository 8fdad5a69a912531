# frozen_string_literal: true

require_relative "../comparison"
require_relative "../published"
require_relative "../targets"
require_relative "doubts"
require_relative "figures"
require_relative "judgements"
require_relative "prose"
require_relative "summary"
require_relative "table"
require_relative "timings"

module Larder
  module Lab
    module Reports
      # The report for people: tables that fit the terminal, then what follows from them.
      class Text
        include Prose

        Reports.register("text", self)

        CALL = "Rails.cache.fetch([\"key\", i], expires_in: 5.minutes) { \"Hello World!\" }"

        # @param results [Results]
        # @param comparison [Comparison]
        # @param terminal [Terminal]
        def initialize(results, comparison, terminal:)
          @results = results
          @comparison = comparison
          @terminal = terminal
          @room = room_of(terminal)
        end

        # @return [String]
        def to_s
          sections = [header, *(timings if @comparison.base), section("Not measured", turned_down),
                      section("Environment", environment), *(conclusions if @comparison.base)]
          "#{sections.compact.join("\n\n")}\n"
        end

        private

        def timings
          [*@results.settings.workload_types.map { |type| timing(type) },
           section("Memory and disk, with #{Figures.thousands(@results.count)} keys stored", footprints)]
        end

        # Last, so that they are on the screen when the run has ended.
        def conclusions
          judgements = Judgements.new(@results, @comparison)
          [
            section("Beside the published comparison (#{Published::SOURCE})", judgements.published(width: @room)),
            section("What Larder sets out to reach", judgements.targets(width: @room)),
            section("Times as long as #{@comparison.base} (median)", summary),
            section("In words", items(judgements.words)),
            section("Doubts", items(Doubts.new(@results).lines))
          ]
        end

        def header
          settings = @results.settings
          facts = ["n = #{Figures.thousands(@results.count)}", "#{settings.threads} threads where several",
                   "#{@results.rounds} rounds", block_length, "seed #{settings.seed}"]
          [@terminal.paint("larder-lab stores", :bold), *indent([CALL, *wrap(facts.join(", "))])].join("\n")
        end

        def block_length
          seconds = @results.settings.block_seconds
          seconds ? "blocks of #{format("%g", seconds)} s or more" : "one lap per block"
        end

        def timing(type)
          lines = Timings.new(@results, @comparison, type, width: @room).lines
          lines = lines.each_with_index.map { |line, index| index < 2 ? @terminal.paint(line, :dim) : line }
          section(type.heading(@results.settings.threads), [*wrap(type.about), *lines])
        end

        def summary
          Summary.new(@results, @comparison).lines(width: @room)
        end

        def footprints
          table = Table.new(:left, :right, :right, :right)
          table.row("", "process grew by", "server holds", "on disk")
          @results.measured.each do |row|
            own = @results.footprints.select { |footprint| footprint.row == row.name }
            next if own.empty?

            table.row(row.name, *%i[memory_bytes server_bytes disk_bytes].map { |field| median_bytes(own, field) })
          end
          table.lines(width: @room)
        end

        def median_bytes(footprints, field)
          values = footprints.filter_map(&field)
          Figures.megabytes(values.empty? ? nil : Statistics.median(values))
        end

        def turned_down
          (@results.rows - @results.measured).flat_map do |row|
            state = row.state == :void ? "void, " : ""
            items(["#{row.name}: #{state}#{row.reason}"])
          end
        end

        def environment
          facts = @results.environment
          machine = [facts[:cpu], "#{facts[:cores]} cores", Figures.megabytes(facts[:memory_bytes]), facts[:kernel],
                     facts[:file_system]]
          items([facts[:ruby], machine.compact.join(", "), gems, *servers].compact)
        end

        def gems
          all = @results.measured.map { |row| row.versions.to_h }
          names = all.flat_map(&:keys).uniq
          return if names.empty?

          names.map { |name| "#{name} #{all.filter_map { |versions| versions[name] }.uniq.join(" and ")}" }.join(", ")
        end

        def servers
          @results.measured.filter_map { |row| row.server&.fetch(:version) }.uniq
        end
      end
    end
  end
end
