# frozen_string_literal: true

require_relative "../clock"
require_relative "../scratch"
require_relative "pace"
require_relative "plan"
require_relative "samples"
require_relative "seat"
require_relative "verdict"

module Larder
  module Lab
    # Measures suites: rows that live side by side and take turns, their samples, ratios and verdicts.
    # @api private
    module Bench
      # A row that is left out. `state` is :unavailable (a gem or server is missing) or :invalid (it broke the rules),
      # `block` the title of the block that was measured or prepared (nil: its process started or ended).
      Absence = Struct.new(:state, :reason, :block, keyword_init: true)

      # Runs a plan: in each session it starts a process for each row and for its twin. Rows live at the same time and
      # take turns in short blocks, so that load and the clock rate of the processor meet all of them. In each pass the
      # order is random and is then reversed (ABBA), which removes drift within the pass. The reference loop takes turns
      # with them.
      class Conductor
        include Clock

        # Seeds of sessions for each seed of a run.
        SEEDS = 1000
        # Seats that are made ready at once, or left.
        HANDS = 4
        # Values with which a row proves in the sessions after its first that it keeps them.
        FEWER_PROOFS = 10

        # absent: rows that were left out, and why; skipped: [row, block] => why a row that takes part cannot do this
        # block; recorded: row => versions, options, server, "memory" of it "before" and "after" the blocks of each
        # session, and "figures" by block and name, one of each process.
        attr_reader :absent, :skipped, :recorded

        # `samples` get all turns.
        def initialize(plan, samples, progress:)
          @plan = plan
          @samples = samples
          @progress = progress
          @absent = {}
          @skipped = {}
          @recorded = {}
          @calls = {}
        end

        def run
          @pace = pace
          @progress.start("measuring", @plan.sessions * @plan.steps, "step", @plan.limit_seconds)
          Scratch.open(@plan.directory) do |scratch|
            @files = ServerFiles.new(scratch.path)
            @plan.sessions.times { |number| session(scratch, number) unless @pace.over? }
          end
          @samples
        end

        # Seconds of the run by {Pace::KINDS}.
        def spent = @pace.spent

        private

        def pace
          seats = @plan.rows.size.next * @plan.suite.copies
          Pace.new(limit: @plan.limit_seconds, sessions: @plan.sessions, passes: @plan.passes,
                   needed: [@plan.sessions, Verdict::LEAST_SESSIONS].min,
                   pass_seconds: 2 * seats * @plan.blocks.size * @plan.turn_seconds)
        end

        def session(scratch, number)
          @random = Random.new((@plan.seed * SEEDS) + number)
          @plan.parts.each { |blocks| scratch.directory { |dir| part(dir, number, blocks) } }
          @pace.end_session
        end

        # Blocks of a session, in fresh processes.
        def part(dir, session, blocks)
          @seats = []
          @preloaders = Preloader::Group.new(@plan.suite.key, dir)
          @pace.during(:starting) { attend_all(dir).then { seat_all(dir, session) } }
          blocks.each { |block| measure(block, session) }
          @block = nil
          weigh("after", &:server_bytes)
        ensure
          @pace.during(:stopping) { leave_all }
        end

        # Starts the server that all rows use besides their own, always one of the lab's.
        def attend_all(dir)
          @companion = nil
          @companion = Hosting.new(@plan.suite.companion, File.join(dir, "companion"), files: @files)
        rescue Unavailable => error
          @plan.rows.each { |row| leave_out(row, :unavailable, error) }
        end

        # All processes open their stores at once; each is then waited for.
        def seat_all(dir, number)
          rows = [*@plan.rows, ReferenceLoop::KEY] - @absent.keys
          step("starting #{rows.size * @plan.suite.copies} processes", number)
          places = rows.product((0...@plan.suite.copies).to_a).shuffle(random: @random)
          by_hands(places) { |row, copy| attempt(row) { @seats << seat(row, copy, dir) } }
          @seats.sort_by! { |seat| places.index([seat.row, seat.copy]) }
          @seats.each(&:start)
          @seats.each { |seat| attempt(seat.row) { seat.opened.then { |facts| @recorded[seat.row] ||= facts } } }
          weigh("before", &:first_server_bytes)
        end

        def seat(row, copy, dir)
          proofs = [@plan.suite.proofs, (FEWER_PROOFS if @recorded.key?(row))].compact.min
          Seat.new(row, copy, plan: @plan, dir: File.join(dir, "#{row}-#{copy}"), preloaders: @preloaders,
                             files: @files, proofs: proofs, companion: @companion&.endpoint)
        end

        def leave_all
          by_hands(@seats, &:leave)
          @preloaders.stop
          @companion&.stop
        end

        # Several at once: most of it is waiting for servers.
        def by_hands(things)
          queue = Thread::Queue.new(things).close
          hands = Array.new(HANDS) do
            Thread.new do
              Thread.current.report_on_exception = false
              while (thing = queue.pop)
                yield thing
              end
            end
          end
          hands.each(&:join)
        ensure
          hands.to_a.each(&:kill)
        end

        def weigh(moment)
          @seats.reject { |seat| @absent.key?(seat.row) }.each do |seat|
            bytes = yield(seat) or next
            ((@recorded[seat.row]["memory"] ||= {})[moment] ||= []) << bytes
          end
        end

        def measure(block, session)
          step(@block = block.title, session)
          return @pace.during(:turns) { once(block, session) } if block.cold

          block.paced ? at_once(block, session) : turns(block, session)
        end

        # A store that only its own process sees has no entries of another one.
        def once(block, session)
          together(@seats.select { |seat| seat.shared? || seat.reference? || block.anywhere }).each do |seat|
            able?(seat, block) do
              seat.request(:cold, block.key)
              keep(seat, block, session, 0, [note(seat, block)])
            end
          end
        end

        def turns(block, session)
          able = @pace.during(:preparing) { prepare(together(in_order(@seats)), block) }
          passes = block.slow ? 1 : @pace.passes
          @pace.during(:turns) { passes.times { |pass| take_pass(able, block, session, pass) } }
        end

        # Calls come at times of their own, so rows do not wait for each other.
        def at_once(block, session)
          @pace.during(:preparing) do
            seats = in_order(@seats.reject(&:reference?)).each { |seat| seat.request(:prepare, block.key) }
            able = seats.select { |seat| prepared?(seat, block) }
            able.each { |seat| seat.request(:pace) } unless block.alone
            able.each do |seat|
              seat.request(:pace) if block.alone
              answer = attempt(seat.row) { note(seat, block) }
              keep(seat, block, session, 0, [answer]) if answer && answer["seconds"]
            end
          end
        end

        # All prepare at once, and warm up at once. In between a row finds out in its first session how many calls make
        # a turn, while no other works.
        # Answers the seats that can take turns.
        def prepare(seats, block)
          seats.each { |seat| seat.request(:prepare, block.key) }
          able = seats.select { |seat| prepared?(seat, block) }
          able.uniq(&:row).each do |seat|
            attempt(seat.row) { @calls[[seat.row, block.key]] ||= seat.ask(:calibrate, @plan.turn_seconds)["calls"] }
          end
          able = in_order(able).each { |seat| seat.request(:warm_up, @calls[[seat.row, block.key]]) }
          able.each { |seat| attempt(seat.row) { seat.answer } }
        end

        def prepared?(seat, block) = able?(seat, block) { note(seat, block) }

        # False if a row cannot do the block, as its gems lack something, or its server may not be filled. Its other
        # blocks are measured.
        def able?(seat, block)
          attempt(seat.row) do
            yield
            true
          rescue Unavailable => error
            @skipped[[seat.row, block.key]] = error.message
            false
          end
        end

        # Waits for an answer, and keeps the figures that the block has found out.
        def note(seat, block)
          seat.answer.tap do |answer|
            answer["figures"].to_h.each do |name, figure|
              own = @recorded[seat.row]["figures"] ||= {}
              ((own[block.key] ||= {})[name] ||= []) << figure
            end
          end
        end

        def take_pass(seats, block, session, pass)
          order = in_order(seats)
          taken = Hash.new { |all, seat| all[seat] = [] }
          [*order, *order.reverse].each do |seat|
            attempt(seat.row) { taken[seat] << seat.ask(:turn) }
          end
          taken.each { |seat, turns| keep(seat, block, session, pass, turns) if turns.size == 2 }
        end

        def keep(seat, block, session, pass, turns)
          @samples.add(Samples::Turn.new(
                         row: seat.row, block: block.key, copy: seat.copy, session: session, pass: pass,
                         seconds: turns.sum { |turn| turn["seconds"] } / turns.size,
                         calls: turns.sum { |turn| turn["calls"] }, faults: turns.sum { |turn| turn["faults"].to_i }
                       ))
        end

        # The reference loop takes no turns by itself.
        def together(seats) = seats.all?(&:reference?) ? [] : in_order(seats)

        def in_order(seats) = seats.reject { |seat| @absent.key?(seat.row) }.shuffle(random: @random)

        # A row that fails is left out from then on, and the others go on.
        def attempt(row)
          yield unless @absent.key?(row)
        rescue Unavailable => error
          leave_out(row, :unavailable, error)
        rescue Invalid => error
          leave_out(row, :invalid, error)
        end

        def leave_out(row, state, error)
          @absent[row] = Absence.new(state: state, reason: error.message, block: @block)
          @progress.note("#{row}: #{error.message}")
          nil
        end

        def step(title, session) = @progress.step("session #{session + 1} of #{@plan.sessions}: #{title}")
      end
    end
  end
end
