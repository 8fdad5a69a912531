# frozen_string_literal: true

# Compares LarderStore, on both paths, with MemoryStore and FileStore: runs a sequence on each, and finds
# the first step at which a caller sees something else and no known difference explains it.

require "tmpdir"
require "support/differential/known_differences"
require "support/differential/rails_stage"
require "support/differential/shrinking"

module Differential
  # One sequence.
  class Comparison
    # What a caller saw at the last step: by LarderStore, and by those that disagree.
    Found = Struct.new(:setup, :class_name, :steps, :path, :seen, :others) do
      # @return [String] the shortest sequence, and what was seen at its end
      def to_s
        ["options #{setup}, class #{class_name || "of the store itself"}", *steps.map { |step| "  #{step}" },
         *told_of("LarderStore, #{path} path", seen),
         *others.flat_map { |kind, other| told_of(kind, other) }].join("\n")
      end

      private

      def told_of(who, seen)
        seen.map { |what, text| "    #{who}: #{what}: #{Array(text).join("\n      ")}" }
      end
    end

    # @param directory [String] where the stores keep their files
    # @param tally [Hash{String => Integer}] counts what known differences explained
    def initialize(directory, tally = Hash.new(0))
      @directory = directory
      @tally = tally
    end

    # @return [Differential::Comparison::Found, nil] the shortest sequence that differs, if this one does
    def difference(setup, class_name, steps)
      return unless look(setup, class_name, steps)

      tally, @tally = @tally, Hash.new(0)
      shortest = Shrinking.shortest(steps) { |shorter| look(setup, class_name, shorter) }
      setup, class_name = plainer(setup, class_name, shortest)
      look(setup, class_name, shortest)
    ensure
      @tally = tally if tally
    end

    private

    # Without options and class, where they do not matter.
    def plainer(setup, class_name, steps)
      class_name = nil if class_name && look(setup, nil, steps)
      setup = "{}" if look("{}", class_name, steps)
      [setup, class_name]
    end

    def look(setup, class_name, steps)
      ordinary = Larder::Store::FastPath.without { play(:larder, setup, class_name, steps) }
      played = { fast: play(:larder, setup, class_name, steps), ordinary: ordinary }
      others = { memory: play(:memory, setup, class_name, steps), file: play(:file, setup, class_name, steps) }
      played.each do |path, seen|
        at, disagreeing = first_difference(steps, seen, others)
        next unless at

        return Found.new(setup, class_name, steps[0..at], path, seen[at], disagreeing)
      end
      nil
    end

    def play(kind, setup, class_name, steps)
      Dir.mktmpdir(kind.to_s, @directory) do |directory|
        stage = RailsStage.new(kind, directory, setup, class_name)
        stage.play(steps)
      ensure
        stage&.close
      end
    end

    # Where Rails' stores differ from one another, Larder may do as either. After a difference that matters later,
    # nothing more is compared: of one store alone nobody can tell whether the other would agree with it.
    def first_difference(steps, seen, others)
      steps.each_with_index do |step, at|
        break if KnownDifferences.ends?(step, seen[at])

        differing = others.keys.reject { |kind| KnownDifferences.same?(step, seen[at], others[kind][at], kind) }
        alone = differing == others.keys
        known = differing.to_h { |kind| [kind, reason(steps, seen, others[kind], at, alone)] }
        unknown = differing.select { |kind| known[kind].nil? }
        return [at, unknown.to_h { |kind| [kind, others[kind][at]] }] if unknown.any?

        known.each_value { |name, _| @tally[name] += 1 }
        break if known.each_value.any?(&:last)
      end
      nil
    end

    def reason(steps, seen, other, at, alone)
      answers = seen.first(at).pluck(:result)
      KnownDifferences.find(steps[0..at], seen[at], other[at], answers) ||
        ([KnownDifferences::AMONG_THEMSELVES, true] unless alone)
    end
  end
end
