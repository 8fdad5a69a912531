# frozen_string_literal: true

# Draws dishes: seen from above, in the colours of what is in them, each a little different. Adornment only, which
# readers of the screen are not told of.
module PlatesHelper
  COLOUR = /\A#\h{6}\z/

  # How the dishes of a kind lie on their plates. Other kinds are served as main dishes.
  SERVED = { "Hauptspeise" => :served, "Salat" => :tossed, "Suppe" => :ladled, "Nachspeise" => :turned_out,
             "Gebäck" => :baked, "Getränk" => :poured }.freeze
  private_constant :COLOUR, :SERVED

  # @param recipe [Recipe]
  # @param size [Integer] CSS pixels
  # @return [String] SVG
  def plate_of(recipe, size)
    plate(recipe.category_names.first, recipe.colours.split, recipe.id, size)
  end

  # @param kind [String] the name of a category
  # @param colours [Array<String>] of the main thing, of what comes with it, and of what is strewn over it
  # @param seed [Integer] draws the same plate again
  # @param size [Integer] CSS pixels
  # @return [String] SVG
  def plate(kind, colours, seed, size)
    dish = send(SERVED.fetch(kind, :served), *colours.grep(COLOUR).first(3), Random.new(seed))
    drawing = [round(50, 50, 48, "", "rim"), round(50, 50, 36, "", "well"), dish].join
    %(<svg class="plate" viewBox="0 0 100 100" width="#{size}" height="#{size}" aria-hidden="true" focusable="false">
      #{drawing}</svg>).html_safe
  end

  private

  # Slices, a heap beside them, and something green.
  def served(main, side, strewn, random)
    turn = random.rand(360)
    heap = Array.new(8) { dot(62, 42, 13, side, 4 + random.rand(3), random) }
    slices = Array.new(4) { |at| oval(33 + (at * 7), 50 + (at * 6), 15, 8, main, -38, "edge") }
    leaves = Array.new(4) { leaf(44, 42, 16, strewn, random) }
    %(<g transform="rotate(#{turn} 50 50)">#{[*heap, *slices, *leaves].join}</g>)
  end

  def tossed(main, side, strewn, random)
    leaves = Array.new(20) { |at| leaf(50, 50, 23, at % 3 == 2 ? side : main, random, 10) }
    (leaves + Array.new(7) { dot(50, 50, 22, strewn, 2.5, random) }).join
  end

  def ladled(main, side, strewn, random)
    turn = random.rand(360)
    swirl = %(<path d="M30 52c6-16 32-18 36-4s-18 20-24 10 12-14 14-6" fill="none" stroke="#{side}" ) +
            %(stroke-width="3" stroke-linecap="round" transform="rotate(#{turn} 50 50)"/>)
    [round(50, 50, 33, main, "edge"), swirl, *Array.new(8) { dot(50, 50, 24, strewn, 2, random) }].join
  end

  def turned_out(main, side, strewn, random)
    berries = Array.new(6) do |at|
      angle = (at * Math::PI / 3) + random.rand
      round(50 + (27 * Math.cos(angle)), 50 + (27 * Math.sin(angle)), 3, strewn, "edge")
    end
    [oval(50, 50, 27, 23, side, random.rand(180), "thin"), round(50, 50, 17, main, "edge"),
     round(50, 50, 9, side), *berries].join
  end

  # A cake of which somebody has had a piece.
  def baked(main, side, strewn, random)
    turn = random.rand(360)
    crumbs = Array.new(9) { dot(44, 50, 17, side, 2.6, random) } + Array.new(5) { dot(44, 50, 17, strewn, 1.8, random) }
    cake = %(<path class="edge" d="M50 50L76.9 42.8A28 28 0 1 0 69.8 69.8Z" fill="#{main}"/>)
    %(<g transform="rotate(#{turn} 50 50)">#{cake}#{crumbs.join}</g>)
  end

  # A cup on its saucer.
  def poured(main, side, strewn, random)
    handle = %(<rect class="cup" x="70" y="46" width="15" height="8" rx="4"/>)
    %(<g transform="rotate(#{random.rand(90) - 45} 50 50)">#{handle}#{round(50, 50, 25, "", "cup")}</g>) +
      [round(50, 50, 20, main, "edge"), leaf(50, 50, 8, side, random, 8), leaf(50, 50, 8, side, random, 8),
       *Array.new(3) { dot(50, 50, 12, strewn, 1.8, random) }].join
  end

  def dot(x, y, within, colour, radius, random)
    round(*somewhere(x, y, within, random), radius, colour, "edge")
  end

  def leaf(x, y, within, colour, random, length = 7)
    oval(*somewhere(x, y, within, random), length, length * 0.42, colour, random.rand(180), "edge")
  end

  def somewhere(x, y, within, random)
    angle = random.rand * 2 * Math::PI
    far = within * Math.sqrt(random.rand)
    [x + (far * Math.cos(angle)), y + (far * Math.sin(angle))]
  end

  def round(x, y, radius, colour, style = "bare")
    fill = %( fill="#{colour}") unless colour.empty?
    %(<circle class="#{style}" cx="#{x.round(1)}" cy="#{y.round(1)}" r="#{radius}"#{fill}/>)
  end

  def oval(x, y, wide, high, colour, turn, style)
    x, y = x.round(1), y.round(1)
    %(<ellipse class="#{style}" cx="#{x}" cy="#{y}" rx="#{wide}" ry="#{high.round(1)}" fill="#{colour}" ) +
      %(transform="rotate(#{turn} #{x} #{y})"/>)
  end
end
