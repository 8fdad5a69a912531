# frozen_string_literal: true

module DeployProof
  # A value was read after a call that ended it.
  class Wrong < StandardError; end

  # Notes when values were stored and when calls ended them, by a clock of the driver's events. A call has begun before
  # it is sent, and has ended when its answer was received. The moment of a value is when its store had ended, or when a
  # worker announced that it computes the value. A read that begins after a call has ended must not find a value whose
  # moment is before the beginning of that call.
  class Ledger
    # A call of a worker. The floors are what calls had ended, by key and by tag, when it began.
    Call = Struct.new(:name, :key, :value, :tag, :beginning, :floor, :tag_floors)
    READS = %i[read fetch].freeze

    def initialize
      @clock = 0
      @values = {}
      @floors = Hash.new(0)
      @tag_floors = Hash.new(0)
      @cleared = 0
    end

    # @return [Call] with a value of its own, if it stores one
    def begin_call(name, key, tag)
      value = new_value(key, tag) if %i[write write_tagged fetch].include?(name)
      @values[value][:tag] = nil if value && name != :write_tagged
      Call.new(name, key, value, tag, tick, [@floors[key], @cleared].max, @tag_floors.dup)
    end

    # The worker computes the value of this call.
    def computes(call)
      @values[call.value][:moment] = tick
    end

    # The answer was received, or the worker was killed (:killed).
    #
    # @return [Boolean] true if a value was found
    # @raise [Wrong]
    def end_call(call, answer)
      moment = tick
      @values[call.value][:moment] ||= moment if call.value
      found = READS.include?(call.name) && answer.is_a?(String) && answer != call.value
      judge(call, answer) if found
      note(call) if done?(call, answer)
      found
    end

    private

    def tick
      @clock += 1
    end

    def new_value(key, tag)
      (@values.size + 1).to_s.tap { |value| @values[value] = { key: key, tag: tag, moment: nil } }
    end

    # A write is done where it answers true. A removal answers nothing, or an error was reported, where it is not.
    def done?(call, answer)
      return answer == true if call.value

      !READS.include?(call.name) && ![nil, :failed, :killed].include?(answer)
    end

    def note(call)
      case call.name
      when :clear then @cleared = [@cleared, call.beginning].max
      when :delete_tagged then @tag_floors[call.tag] = [@tag_floors[call.tag], call.beginning].max
      when :fetch then nil # it stores only where there is no value
      else @floors[call.key] = [@floors[call.key], call.beginning].max
      end
    end

    def judge(call, answer)
      value = @values.fetch(answer)
      raise Wrong, "#{call.key} has value #{answer} of #{value[:key]}" unless value[:key] == call.key

      floor = [call.floor, value[:tag] ? call.tag_floors[value[:tag]] : 0].max
      return if value[:moment].nil? || value[:moment] >= floor

      raise Wrong, "#{call.name} of #{call.key} found value #{answer} of moment #{value[:moment]}, " \
                   "which a call that began at #{floor} had ended"
    end
  end
end
