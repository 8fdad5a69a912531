# frozen_string_literal: true

# The words that recipes are made of. The generator puts them together.

module Recipes
  # Tables of German words with what they are in English, what of them is bought, and the colour they have on a plate.
  module Vocabulary
    # What a dish is named for. gender: m, f, n, or p for the plural; sorts: letters as those of
    # adjectives, the first of which says what suits it.
    Main = Struct.new(:german, :gender, :english, :sorts, :bought, :colour)
    # What a dish comes with. tag: a category that it brings along.
    Side = Struct.new(:german, :english, :bought, :colour, :tag)
    # What stands before the name. German words that end in "-" are inflected. sorts: of mains that it suits.
    Adjective = Struct.new(:german, :english, :sorts)
    # A category that every recipe has exactly one of. share: of all recipes, per mille.
    Kind = Struct.new(:name, :english, :share, :mains, :sides, :pantry, :steps, :minutes)

    # Categories that recipes have beside their kind.
    TAGS = { "Fleisch" => "meat", "Fisch" => "fish", "Vegetarisch" => "vegetarian", "Schnell" => "quick" }.freeze

    # The kinds' tables are in files of their own, in this order.
    KINDS = %w[hauptspeise nachspeise suppe salat gebaeck getraenk].freeze

    # @param type [Class] a Struct
    # @param text [String] a row a line, fields between bars
    # @return [Array<Struct>]
    def self.table(type, text)
      text.lines(chomp: true).map { |line| type.new(*line.split("|").map(&:strip)).freeze }.freeze
    end

    # M meat, F fish, T dumplings and noodles, V vegetables; S soups, L salads, N desserts, B baking, D drinks.
    ADJECTIVES = table(Adjective, <<~TABLE)
      Geschmort-    | braised       | MV
      Gebraten-     | fried         | MFTV
      Gegrillt-     | grilled       | MFV
      Gebacken-     | baked         | FTV
      Gefüllt-      | stuffed       | V
      Glasiert-     | glazed        | MV
      Gratiniert-   | gratinated    | TV
      Geräuchert-   | smoked        | F
      Gebeizt-      | cured         | F
      Gedünstet-    | steamed       | FV
      Gespickt-     | larded        | M
      Geröstet-     | roasted       | MTV
      Gewürzt-      | spiced        | MSDL
      Geeist-       | iced          | ND
      Gezuckert-    | sugared       | NB
      Gemischt-     | mixed         | L
      Pochiert-     | poached       | F
      Überbacken-   | cheese-topped | TV
      Knusprig-     | crisp         | MFTVB
      Zart-         | tender        | MF
      Mariniert-    | marinated     | MFVL
      Würzig-       | spicy         | MVSLD
      Deftig-       | hearty        | MTSL
      Herzhaft-     | savoury       | TVSL
      Fein-         | delicate      | FSNB
      Cremig-       | creamy        | SN
      Bunt-         | colourful     | VL
      Lauwarm-      | warm          | L
      Frisch-       | fresh         | LD
      Sommerlich-   | summer        | FVSLND
      Herbstlich-   | autumn        | MVSLNBD
      Winterlich-   | winter        | MSNBD
      Süß-          | sweet         | NBD
      Heiß-         | hot           | D
      Saftig-       | succulent     | MB
      Locker-       | light         | NB
      Luftig-       | airy          | NB
      Scharf-       | fiery         | MVSL
      Einfach-      | plain         | MFTVSLNBD
      Klassisch-    | classic       | MFTVSLNBD
      Ländlich-     | country       | MFTVSLNBD
      Alt-          | old           | B
      Schwäbisch-   | Swabian       | MFTVSLNBD
      Badisch-      | Baden         | MFTVSLNBD
      Fränkisch-    | Franconian    | MFTVSLNBD
      Rheinisch-    | Rhenish       | MFTVSLNBD
      Pfälzisch-    | Palatine      | MFTVSLNBD
      Westfälisch-  | Westphalian   | MFTVSLNBD
      Sächsisch-    | Saxon         | MFTVSLNBD
      Böhmisch-     | Bohemian      | MFTVSLNBD
      Bayerisch-    | Bavarian      | MFTVSLNBD
      Hessisch-     | Hessian       | MFTVSLNBD
      Friesisch-    | Frisian       | MFTVSLNBD
      Wiener        | Viennese      | MFTVSLNBD
      Elsässer      | Alsatian      | MFTVSLNBD
      Tiroler       | Tyrolean      | MFTVSLNBD
      Zürcher       | Zurich        | MFTVSLNBD
      Berner        | Bernese       | MFTVSLNBD
      Nürnberger    | Nuremberg     | MFTVSLNBD
      Allgäuer      | Allgäu        | MFTVSLNBD
      Hamburger     | Hamburg       | MFTVSLNBD
      Königsberger  | Königsberg    | MFTVSLNBD
      Thüringer     | Thuringian    | MFTVSLNBD
      Leipziger     | Leipzig       | MFTVSLNBD
      Kärntner      | Carinthian    | MFTVSLNBD
      Ulmer         | Ulm           | MFTVSLNBD
      Omas          | Grandma’s     | MFTVSLNBD
      Nachbars      | the neighbour’s | MFTVSLNBD
      Ilses         | Ilse’s        | MFTVSLNBD
      Jakobs        | Jakob’s       | MFTVSLNBD
      Quirins       | Quirin’s      | MFTVSLNBD
      Veras         | Vera’s        | MFTVSLNBD
      Ottos         | Otto’s        | MFTVSLNBD
      Claras        | Clara’s       | MFTVSLNBD
    TABLE

    # What is said above a recipe.
    INTRODUCTIONS = <<~LINES.lines(chomp: true).freeze
      For the first cold evening of October.
      Best made the day before, and better still the day after.
      The kind of dish that is eaten in silence.
      Nobody at home knew that it came from a book.
      Looks like much work and is little.
      Enough for four, or for two who have been outdoors.
      Made every Sunday in a house that no longer stands.
      For guests who come early and stay late.
      There are other ways to make it. This one works.
      It wants patience once, at the beginning.
      The smell alone brings people into the kitchen.
      What is left over can be had cold with bread.
      A dish for a long table and a short list of questions.
      Copied from the back of a calendar, and improved twice.
      Easier than its name.
      Good on its own, and no worse with a second helping.
      It forgives nearly everything but haste.
      Found in a drawer, in pencil, without a date.
      What the garden gives in one week, in one pot.
      Made to use up what is there, and now shopped for.
    LINES

    # Who leaves notes, and what they say.
    READERS = %w[anna bernd carla dieter elke fritz gerda hanno].freeze
    NOTES = <<~LINES.lines(chomp: true).freeze
      I take half the salt and twice the butter.
      Made it three times now. It gets better.
      The children asked for more, which says something.
      Twenty minutes longer in my oven.
      Nutmeg! Nobody ever thinks of the nutmeg.
      We had it cold the next day, with pickles.
      My aunt did it without the lemon, and she was right.
      Works with what the market has. Mine had leeks.
      Do not open the lid. I opened the lid.
      A bay leaf does no harm.
      I had no scales that day. It does not matter much.
      Serve it in the pan that it was made in.
      For eight people I doubled everything but the pepper.
      Good with a dry Riesling.
    LINES

    # @return [Array<Kind>] in the order in which they are shown
    def self.kinds
      @kinds ||= KINDS.map { |name| const_get(name.capitalize)::KIND }.freeze
    end
  end
end

Recipes::Vocabulary::KINDS.each { |name| require_relative "vocabulary/#{name}" }
