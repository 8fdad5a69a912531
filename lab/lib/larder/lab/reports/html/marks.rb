# frozen_string_literal: true

# Chooses how the series of a chart are told apart: by colour, and also without it, by dashes and by the shape of
# marks.

module Larder
  module Lab
    module Reports
      class Html
        # Looks of series, by their numbers.
        module Marks
          # Colours of the style sheet that series have, besides the accent.
          COLOURS = 7
          # Dashes and gaps. The unbroken line is that of the series that stands out.
          DASHES = ["7 3", "2 3", "11 3 2 3", "4 2", "14 4", "7 3 2 3 2 3", "1 2"].freeze
          # Paths that begin at a point and go around it.
          SHAPES = ["m-4-4h8v8h-8z", "m0-5l5 9h-10z", "m0-5.5l5.5 5.5l-5.5 5.5l-5.5-5.5z", "m0 5l5-9h-10z",
                    "m-4-4l8 8m0-8l-8 8", "m-5 0h10m-5-5v10", "m-2.5-4.5h5v9h-5z"].freeze

          # colour: class of the style sheet; dash: nil for an unbroken line; shape: path; own: whether it
          # is the one that stands out.
          Look = Struct.new(:colour, :dash, :shape, :own, keyword_init: true)

          OWN = Look.new(colour: "own", dash: nil, shape: "m0-4.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9z",
                         own: true).freeze

          module_function

          # @param own [Array<Boolean>] for each series, whether it stands out
          # @return [Array<Look>]
          def for(own)
            count = -1
            own.map { |stands_out| stands_out ? OWN : look(count += 1) }
          end

          # The periods differ, so that 49 series are not alike.
          # @param number [Integer]
          # @return [Look]
          def look(number)
            Look.new(colour: "s#{(number % COLOURS) + 1}", dash: DASHES[number % DASHES.size],
                     shape: SHAPES[(number + (number / DASHES.size)) % SHAPES.size], own: false)
          end
        end
      end
    end
  end
end
