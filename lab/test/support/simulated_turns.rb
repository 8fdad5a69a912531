# frozen_string_literal: true

# Turns as a machine would have given them: what all rows of a pass have in common, what differs from process to
# process, what differs from turn to turn, and now and then another program that takes the processor.
class SimulatedTurns
  # @param factors [Hash{String=>Float}] how many times as long a call takes, by row
  # @param noise [Hash] standard deviations of logarithms, and the share of disturbed turns
  def initialize(factors, seed:, blocks: ["block"], sessions: 6, passes: 6, slowed: {}, **noise)
    @factors = factors
    @random = Random.new(seed)
    @blocks = blocks
    @sessions = sessions
    @passes = passes
    @slowed = slowed
    @noise = { pass: 0.1, process: 0.01, turn: 0.03, disturbed: 0.05, **noise }
  end

  # @return [Larder::Lab::Bench::Samples]
  def samples
    Larder::Lab::Bench::Samples.new.tap do |samples|
      @blocks.product((0...@sessions).to_a) { |block, session| play(samples, block, session) }
    end
  end

  private

  def play(samples, block, session)
    seats = @factors.keys.product([0, 1]).to_h { |seat| [seat, @noise[:process] * normal] }
    @passes.times do |pass|
      common = @noise[:pass] * normal
      seats.each do |(row, copy), process|
        seconds = 1e-5 * @factors[row] * @slowed.fetch([row, block], 1.0) * Math.exp(common + process + turn)
        samples.add(Larder::Lab::Bench::Samples::Turn.new(row: row, block: block, copy: copy, session: session,
                                                          pass: pass, seconds: seconds, calls: 1000, faults: 2))
      end
    end
  end

  def turn = (@noise[:turn] * normal) + (@random.rand < @noise[:disturbed] ? @random.rand : 0.0)

  # Box and Muller, 1958.
  def normal = Math.sqrt(-2 * Math.log(1 - @random.rand)) * Math.cos(2 * Math::PI * @random.rand)
end
