# frozen_string_literal: true

require_relative "asking"
require_relative "../../reports/figures"

module Larder
  module Lab
    module Suites
      module Features
        # Asks what becomes of a store into which more is written than it has room for. Its methods answer the
        # questions of {BLOCKS}, see {Asking}.
        class Full < Asking
          # Bytes of room and of an object, and how much of the room may be taken.
          ROOM = 8 << 20
          OBJECT = 10_000
          TOLERANCE = 1.25
          private_constant :ROOM, :OBJECT, :TOLERANCE

          # @raise [Unavailable] if the store cannot be filled
          def initialize(scene)
            super
            scene.must_be_filled
          end

          # @return (see Asking#answers)
          # @raise [Invalid] at a wrong value
          def answers(questions)
            @found = hosted("full", ROOM) { |own, _| Capacity::Filling.new(own.open, OBJECT).found["figures"] }
                     .transform_keys(&:to_s)
            super
          end

          private

          def evicts = [Capacity.evicts?(@found) && @found["newest"], "#{left.first}, #{@found["refused"]} refused"]

          def limited_by
            grown = Capacity::PLACES.filter_map { |place, name| "#{name} #{bytes(@found[place])}" if place?(place) }
            [Capacity::PLACES.fetch(Capacity.place(@found), false), grown.join(", ")]
          end

          def within_limit
            disk, tmpfs, server, own = @found.values_at("disk", "tmpfs", "server", "own")
            taken = [disk + tmpfs, server, row.endpoint ? 0 : own].max
            [taken <= ROOM * TOLERANCE, "#{bytes(taken)} of #{bytes(ROOM)}"]
          end

          def left = ["#{@found["held"]} of #{@found["written"]}", nil]

          # Less is noise.
          def place?(place) = @found[place] > 50_000

          def bytes(number) = Reports::Figures.bytes(number)
        end
      end
    end
  end
end
