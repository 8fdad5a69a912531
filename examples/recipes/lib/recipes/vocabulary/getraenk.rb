# frozen_string_literal: true

# The words of drinks.

module Recipes
  module Vocabulary
    module Getraenk
      MAINS = Vocabulary.table(Main, <<~TABLE)
        Holunderlimonade      | f | elderflower lemonade  | D | 150 ml elderflower syrup | #f0ecc4
        Apfelpunsch           | m | apple punch           | D | 1000 ml apple juice      | #d9a23c
        Kakao                 | m | cocoa                 | D | 1000 ml milk             | #7d4f35
        Eistee                | m | iced tea              | D | 4 tsp black tea          | #b8682c
        Erdbeerbowle          | f | strawberry punch      | D | 500 g strawberries       | #dc3a4c
        Johannisbeerschorle   | f | currant spritzer      | D | 400 ml currant juice     | #a81f3f
        Ingwertee             | m | ginger tea            | D | 60 g ginger              | #e6c66a
        Rhabarberschorle      | f | rhubarb spritzer      | D | 500 ml rhubarb juice     | #e58a96
        Quittensaft           | m | quince juice          | D | 1200 g quinces           | #e6bf4e
        Glühwein              | m | mulled wine           | D | 750 ml red wine          | #6d1f33
        Zitronenbuttermilch   | f | lemon buttermilk      | D | 800 ml buttermilk        | #f5f0d8
        Kirschmolke           | f | cherry whey           | D | 700 ml whey              | #b8435a
        Waldmeisterlimonade   | f | woodruff lemonade     | D | 1 bunch of woodruff      | #8fbf5c
        Himbeermilch          | f | raspberry milk        | D | 300 g raspberries        | #e07a94
        Gurkenwasser          | n | cucumber water        | D | 1 cucumber               | #cfe3b4
        Milchkaffee           | m | milky coffee          | D | 500 ml strong coffee     | #a87a50
        Mandelmilch           | f | almond milk           | D | 200 g almonds            | #ece0c8
        Birnenmost            | m | perry                 | D | 1000 ml pear juice       | #dcd080
        Hagebuttentee         | m | rosehip tea           | D | 4 tbsp dried rosehips    | #b5332e
        Pfefferminztee        | m | peppermint tea        | D | 1 bunch of peppermint    | #8fb564
        Möhrensaft            | m | carrot juice          | D | 1000 g carrots           | #ea8a33
        Traubenpunsch         | m | grape punch           | D | 1000 ml grape juice      | #5c2a52
      TABLE

      SIDES = Vocabulary.table(Side, <<~TABLE)
        mit Minze         | with mint          | 1 sprig of mint         | #4f9a5c
        mit Zimt          | with cinnamon      | 1 stick of cinnamon     | #a8672f
        mit Zitrone       | with lemon         | 1 lemon                 | #f2e36a
        mit Ingwer        | with ginger        | 20 g ginger             | #e0c277
        mit Honig         | with honey         | 3 tbsp honey            | #e3a52e
        mit Sternanis     | with star anise    | 2 star anise            | #7d4a2c
        mit Rosmarin      | with rosemary      | 1 sprig of rosemary     | #5a7a55
        mit Vanille       | with vanilla       | 1 vanilla pod           | #f0e0a8
        mit Orangen       | with oranges       | 2 oranges               | #ee9a2e
        mit Waldbeeren    | with wild berries  | 150 g wild berries      | #7a2f5c
        mit Basilikum     | with basil         | 1 sprig of basil        | #3f8a3f
        mit Sahnehaube    | with whipped cream | 150 ml cream            | #f8f2e2
        mit Nelken        | with cloves        | 4 cloves                | #5a3a2c
        mit Kardamom      | with cardamom      | 1 tsp cardamom          | #b5b07a
        mit Thymian       | with thyme         | 1 sprig of thyme        | #7f8f65
        mit Salbei        | with sage          | 4 leaves of sage        | #92a684
        mit Lavendel      | with lavender      | 1 tsp lavender          | #8f7fb5
        mit Limetten      | with limes         | 2 limes                 | #9fc63c
      TABLE

      PANTRY = ["500 ml water", "2 tbsp sugar", "1 tray of ice", "500 ml sparkling water", "1 tbsp syrup",
                "1 slice of lemon", "1 tsp brown sugar"].freeze

      STEPS = [
        ["Put the %{main} into a jug that is large enough.", "Begin with the %{main} and a clean glass."],
        ["Warm it with the %{second}, below the boil.", "Stir with the %{second} until nothing lies on the ground.",
         "Let it draw with the %{second} for %{minutes} minutes."],
        ["Add the %{side} and wait a little.", "Bruise the %{side} between your fingers and drop it in."],
        ["Strain, pour, drink.", "Fill up glasses and hand them round.", "Serve it in the garden, if there is one."]
      ].freeze

      KIND = Kind.new("Getränk", "drinks", 80, MAINS, SIDES, PANTRY, STEPS, [5, 10, 15, 20, 30])
    end
  end
end
