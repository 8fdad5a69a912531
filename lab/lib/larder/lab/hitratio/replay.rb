# frozen_string_literal: true

require "tmpdir"
require_relative "../document"
require_relative "../environment"
require_relative "../published"
require_relative "../reports/figures"
require_relative "../units"
require_relative "policies"
require_relative "trace"

module Larder
  module Lab
    module Hitratio
      # The published misses of a trace. None was measured here.
      ARTICLE = Published.of("hitratio")
      # Sizes of the cache that were published, as they are typed.
      SIZES = ARTICLE.tables.first.columns.map(&:title).freeze

      # The size of a cache. text: as it was given; number: bytes, or percent; share: is it a share of all the bytes
      # that a trace asks for?; object_bytes: bytes of every object, whatever the trace says (nil: as the trace says).
      Size = Struct.new(:text, :number, :share, :object_bytes) do
        # Reads "5%", "512MiB", "1048576" or "200x100KB". Another text is a UsageError.
        def self.parse(text)
          count, bytes = text.match(/\A([1-9]\d*)x(.+)\z/)&.captures
          share = text[/\A(\d+(?:\.\d+)?) ?%\z/, 1]
          each = Units.size(bytes || text, "--size") unless share
          size = count ? new(text, Integer(count) * each, false, each) : new(text, share&.to_f || each, !share.nil?)
          size.bytes_of(1 << 40).positive? ? size : raise(UsageError, "--size #{text} must be more than 0")
        rescue UsageError => error
          raise UsageError, "#{error.message}; or a share of all bytes, as 5%; or objects of one size, as 200x100KB"
        end

        # The bytes of the cache, where `footprint` are those of all objects of a trace.
        def bytes_of(footprint) = share ? (footprint * number / 100).round : number

        def to_s = text
      end

      # One trace at one size. misses: by policies (nil: it cannot run in a cache so small); object_bytes: chosen by the
      # lab (nil: the trace says them); net_misses: of exact LRU in a cache of as many bytes as the engine's objects
      # have at the end (nil: one of the two did not run).
      Row = Struct.new(:trace, :size, :capacity, :object_bytes, :requests, :footprint, :misses, :net_misses,
                       keyword_init: true) do
        # @return [Float, nil] share of requests that missed; nil if it did not run
        def miss_ratio(policy) = misses[policy]&.fdiv(requests)

        def above_lru(policy)
          lru, ours = [miss_ratio("lru"), miss_ratio(policy)]
          ours - lru if lru && ours
        end

        # @return [Float, nil] its place between LRU (0) and Belady (1); nil where they do not differ or did not run
        def to_belady(policy)
          least = above_lru("belady")
          above_lru(policy)&.fdiv(least)&.+(0.0) if least&.negative? # no -0.0
        end

        # @return [Float, nil] excess of the engine over LRU with as many bytes of objects
        def above_net_lru = net_misses && (miss_ratio("larder") - net_misses.fdiv(requests))

        # @return [Integer, nil] the published misses of this trace, which is known by its requests, at this size
        def published(policy)
          at = SIZES.index(size) if requests == ARTICLE.trace["requests"] && !object_bytes
          at && ARTICLE.tables.first.rows.dig(policy, at + 1)
        end
      end

      # Replays traces at several sizes through several policies, and counts misses.
      class Replay
        # Bytes of an object where the trace does not say, at least; and of the smallest cache that the engine is then
        # measured in: in a smaller one its segments would be measured.
        OBJECT_BYTES = 4096
        LEAST_CAPACITY = 16 << 20
        # As a first guess of how long it takes.
        SECONDS_A_REQUEST = 4e-6

        # @param published [Boolean] is the trace with published results also replayed at the published sizes?
        def initialize(sizes:, policies:, progress:, published: false)
          @sizes = sizes
          @published = published
          @policies = policies
          @progress = progress
          @nets = (%w[larder lru] - policies).empty?
        end

        def run(traces)
          tasks = traces.flat_map { |trace| sizes(trace).map { |size| [trace, size] } }
          each = @policies.size + (@nets ? 1 : 0)
          @progress.start("replaying", tasks.size * each, "replay",
                          tasks.sum { |trace, _| trace.requests.size } * each * SECONDS_A_REQUEST)
          tasks.map { |trace, size| row(trace, size) }
        end

        private

        def sizes(trace)
          known = @published && trace.sizes && trace.requests.size == ARTICLE.trace["requests"]
          known ? @sizes + SIZES.map { |text| Size.parse(text) } : @sizes
        end

        def row(trace, size)
          object_bytes = size.object_bytes || (object_bytes(trace, size) unless trace.sizes)
          trace = trace.with_size(object_bytes) if object_bytes
          capacity = size.bytes_of(trace.footprint)
          found = @policies.to_h { |policy| [policy, replay(policy, capacity, trace, size)] }
          net = found["larder"]&.last if @nets
          Row.new(trace: trace.name, size: size.to_s, capacity: capacity, object_bytes: object_bytes,
                  requests: trace.requests.size, footprint: trace.footprint, misses: found.transform_values(&:first),
                  net_misses: (replay("lru", net, trace, size).first if net))
        end

        # Where the cache is a share of them, as small as leaves it at LEAST_CAPACITY or more.
        def object_bytes(trace, size)
          share = size.share ? [size.bytes_of(trace.objects * OBJECT_BYTES), 1].max : LEAST_CAPACITY
          share >= LEAST_CAPACITY ? OBJECT_BYTES : (OBJECT_BYTES * LEAST_CAPACITY.fdiv(share) / 512).ceil * 512
        end

        # Answers misses, and the bytes of the objects that are there at the end; nothing if the cache is too small for
        # the policy.
        def replay(name, capacity, trace, size)
          @progress.step("#{trace.name} #{size} #{name}")
          return [] if capacity < Policies.fetch(name).least

          policy = Policies.fetch(name).new(capacity, trace)
          requests, sizes, following = trace.requests, trace.sizes, trace.following
          hits = requests.each_index.count { |at| policy.request(requests[at], sizes[at], following[at]) }
          [requests.size - hits, policy.net_bytes]
        ensure
          policy&.close
        end
      end

      # Builds the report chapter of `larder-lab hitratio`: the published misses with those that were counted here, and
      # misses by trace, size and policy.
      class Chapter
        LEAD = "Every object of a trace is read, and stored on a miss. Larder runs in a file of exactly the size " \
               "under test; the simulations of other policies have no overhead."
        NOTE = "Belady's minimum cannot be reached: it knows the future."
        ABSENT = "no trace"
        UNTRIED = "not replayed"
        FILE = ARTICLE.trace["file"]
        NOTES = ["there: published, #{ARTICLE.source}; #{UNTRIED}: this policy did not run.",
                 "#{ABSENT}: it took no part, or not at this size: larder-lab hitratio #{FILE}.",
                 *ARTICLE.remarks].freeze
        # Traces of the finding about loops.
        LOOP = /\A(loop|lirs-)/
        NAMES = ARTICLE.tables.first.rows.transform_values(&:first).freeze
        Figures = Reports::Figures

        # `facts` say how it was run.
        def initialize(rows, facts: [])
          @rows = rows
          @facts = facts
          @policies = rows.first.misses.keys
        end

        def to_chapter
          Document::Chapter.new(key: "hitratio", title: "Hit ratios", lead: LEAD, facts: @facts, warnings: warnings,
                                conclusions: conclusions, measures: measures,
                                details: { environment: Environment.facts(Dir.tmpdir), rows: @rows.map(&:to_h) },
                                sections: [published, *traces])
        end

        private

        def published
          columns = [["there", "integer"], ["here", "integer"], ["here/there", "number"]]
          columns = SIZES.product(columns).map { |size, (title, format)| { title: title, format: format, group: size } }
          cells = (NAMES.keys | @policies).map do |policy|
            [NAMES.fetch(policy, policy), *SIZES.each_index.flat_map { |at| pair(policy, at) }]
          end
          table = Document::Table.new(columns: ["policy", *columns], rows: cells, notes: [*NOTES, loops])
          Document::Section.new(title: "The published misses", blocks: [table])
        end

        def pair(policy, at)
          there = ARTICLE.tables.first.rows.dig(policy, at + 1)
          row = @rows.find { |each| each.size == SIZES[at] && each.published("lru") } or return [there, ABSENT, nil]
          here = row.misses[policy]
          [there, here || UNTRIED, (here.fdiv(there) if there && here)]
        end

        # The finding about loops, and in how many rows it holds here.
        def loops
          finding = ARTICLE.findings.first
          pair = [finding.faster, finding.slower]
          better, worse = NAMES.values_at(*pair)
          misses = @rows.select { |row| row.trace.match?(LOOP) }
                        .map { |row| pair.map { |policy| row.miss_ratio(policy) } }.select(&:all?)
          here = misses.empty? ? ABSENT : "so in #{misses.count { |one, other| one < other }} of #{misses.size} rows"
          "Published: #{finding.label}: #{better} misses less often than #{worse}. Here: #{here}."
        end

        def traces
          @rows.group_by(&:trace).map do |name, rows|
            columns = rows.map { |row| { title: row.size, format: "share", group: "misses" } }
            lines = @policies.map { |policy| [policy, *rows.map { |row| row.miss_ratio(policy) }] }
            table = Document::Table.new(columns: ["policy", *columns], rows: lines,
                                        notes: [*rows.map { |row| size(row) }, *(NOTE if rows.one?)])
            Document::Section.new(title: "#{name}: #{Figures.thousands(rows.first.requests)} requests",
                                  blocks: [table, (curves(name, rows) if rows.size > 1)])
          end
        end

        def size(row)
          objects = ", objects of #{Figures.thousands(row.object_bytes)} bytes" if row.object_bytes
          small = row.misses.select { |_, misses| misses.nil? }.keys.map do |policy|
            " #{policy} did not run: it needs #{Figures.thousands(Policies.fetch(policy).least)} bytes."
          end
          "#{row.size}: a cache of #{Figures.thousands(row.capacity)} bytes#{objects}.#{small.join}"
        end

        # Sizes are shares of all bytes: bytes say nothing where the lab chooses the size of objects.
        def curves(name, rows)
          series = @policies.map do |policy|
            points = rows.map { |row| [row.capacity.fdiv(row.footprint), row.miss_ratio(policy)] }
            { "label" => policy, "points" => points.select(&:last).sort }
          end
          Document::Curves.new(
            title: "Misses by size of the cache: #{name}", sentence: NOTE,
            x: { title: "cache, of the bytes of all objects", scale: "log", format: "share" },
            y: { title: "misses, of all requests", format: "share" }, series: series
          )
        end

        def conclusions
          [(covered if @policies.include?("larder")),
           largest("Misses of larder minus those of exact LRU: at most %+.2f points") { |row| row.above_lru("larder") },
           largest("The same at equal net bytes, those of the objects alone: at most %+.2f points", &:above_net_lru),
           reproduced].compact
        end

        # The largest of a figure of rows, as a sentence.
        def largest(words, &figure)
          row = @rows.select(&figure).max_by(&figure) or return
          "#{format(words, figure.call(row) * 100)} (#{row.trace} at #{row.size})."
        end

        # Counts the rows whose policies all ran.
        def covered
          rows = @rows.reject { |row| row.misses.value?(nil) }
          parts = (@policies - %w[lru belady]).filter_map do |policy|
            all = rows.filter_map { |row| row.to_belady(policy) }
            [policy, all.sum / all.size] if all.any?
          end
          named = parts.sort_by { |_, part| -part }.map { |policy, part| "#{policy} #{Figures.percent(part)}" }
          "Part of the distance from LRU to Belady that was covered, in the mean: #{named.join(", ")}." if named.any?
        end

        # Whether the simulations are those of the published figures.
        def reproduced
          ratios = @rows.product(NAMES.keys).filter_map do |row, policy|
            there, here = row.published(policy), row.misses[policy]
            here.fdiv(there) if there && here
          end
          all = NAMES.size * SIZES.size
          return "None of the #{all} published figures was repeated: #{FILE} took no part." if ratios.empty?

          "The simulations miss #{format("%.3f", ratios.min)} to #{format("%.3f", ratios.max)} times as often as " \
            "published (#{ratios.size} of #{all} figures)."
        end

        def warnings
          @rows.select { |row| row.requests < 10_000 }.map(&:trace).uniq.map do |name|
            "#{name}: few requests. First requests, which always miss, weigh more than policies."
          end
        end

        def measures
          @rows.product(@policies).select { |row, policy| row.misses[policy] }.map do |row, policy|
            Document::Measure.new(key: ["hitratio", row.trace.tr("/", ":"), row.size, policy].join("/"),
                                  label: "#{policy}: misses, #{row.trace} at #{row.size}",
                                  unit: "share", better: "lower", samples: [row.miss_ratio(policy)])
          end
        end
      end
    end
  end
end
