# frozen_string_literal: true

# The words of desserts.

module Recipes
  module Vocabulary
    module Nachspeise
      MAINS = Vocabulary.table(Main, <<~TABLE)
        Grießpudding       | m | semolina pudding     | N | 100 g semolina           | #f0dfae
        Apfelkompott       | n | stewed apple         | N | 1000 g apples            | #dcc85e
        Vanillecreme       | f | vanilla cream        | N | 500 ml milk              | #f3e0a0
        Weincreme          | f | wine cream           | N | 250 ml white wine        | #efe2a8
        Quarkspeise        | f | curd cream           | N | 500 g quark              | #f5efe0
        Milchreis          | m | rice pudding         | N | 200 g pudding rice       | #f3e9d0
        Beerengrütze       | f | red berry jelly      | N | 800 g mixed berries      | #a81f3f
        Kaiserschmarrn     | m | torn pancake         | N | 200 g flour              | #e2b355
        Dampfnudeln        | p | steamed dumplings    | N | 500 g flour              | #efdcae
        Bratäpfel          | p | baked apples         | N | 4 apples                 | #c8743a
        Schokoladencreme   | f | chocolate cream      | N | 200 g dark chocolate     | #5a3424
        Zitronensorbet     | n | lemon sorbet         | N | 5 lemons                 | #f2e36a
        Holunderparfait    | n | elderflower parfait  | N | 150 ml elderflower syrup | #eee8c4
        Birnenauflauf      | m | pear bake            | N | 5 pears                  | #dccf72
        Zwetschgenknödel   | p | plum dumplings       | N | 12 plums                 | #5c3058
        Karamellflan       | m | caramel custard      | N | 150 g sugar              | #b9732c
        Quarkkeulchen      | p | curd fritters        | N | 400 g quark              | #e3bd6c
        Rhabarbergratin    | n | rhubarb gratin       | N | 600 g rhubarb            | #d4647a
        Pfirsicheis        | n | peach ice cream      | N | 6 peaches                | #f2a85e
        Joghurtmousse      | f | yoghurt mousse       | N | 500 g yoghurt            | #f6f2e6
        Mandelpudding      | m | almond pudding       | N | 150 g ground almonds     | #e6cfa4
        Kirschmichel       | m | cherry bread pudding | N | 700 g cherries           | #8f1f33
      TABLE

      SIDES = Vocabulary.table(Side, <<~TABLE)
        mit Zwetschgen        | with plums             | 400 g plums              | #5c3058
        mit Himbeersauce      | with raspberry sauce   | 250 g raspberries        | #c92f56
        mit Vanillesauce      | with vanilla sauce     | 1 vanilla pod            | #f3dd90
        mit Zimtzucker        | with cinnamon sugar    | 2 tsp cinnamon           | #a8672f
        mit Rumrosinen        | with rum raisins       | 60 g raisins             | #5a3a2c
        mit Karamell          | with caramel           | 100 g caramel            | #c07a2a
        mit Walnüssen         | with walnuts           | 80 g walnuts             | #b98d55
        mit Mandelsplittern   | with almond slivers    | 60 g almonds             | #e0c28c
        mit Kirschen          | with cherries          | 300 g cherries           | #8f1f33
        mit Rhabarber         | with rhubarb           | 400 g rhubarb            | #d4647a
        mit Minze             | with mint              | 1 sprig of mint          | #4f9a5c
        mit Honig             | with honey             | 3 tbsp honey             | #e3a52e
        mit Mohn              | with poppy seed        | 80 g poppy seed          | #3f4352
        mit Schlagsahne       | with whipped cream     | 200 ml cream             | #f8f2e2
        mit Holunderblüten    | with elderflowers      | 6 heads of elderflower   | #f0ecd0
        mit Aprikosen         | with apricots          | 400 g apricots           | #f0a04a
        mit Johannisbeeren    | with red currants      | 250 g red currants       | #cf2338
        mit Orangen           | with oranges           | 2 oranges                | #ee9a2e
        mit Ingwer            | with ginger            | 20 g ginger              | #e0c277
        mit Preiselbeeren     | with lingonberries     | 150 g lingonberries      | #b3213a
        mit Heidelbeeren      | with bilberries        | 250 g bilberries         | #3f3f78
      TABLE

      PANTRY = ["3 eggs", "80 g sugar", "250 ml milk", "200 ml cream", "1 lemon", "1 pinch of salt", "40 g butter",
                "2 tbsp starch", "1 tbsp icing sugar", "6 leaves of gelatine", "1 tsp vanilla sugar"].freeze

      STEPS = [
        ["Put the %{main} ready, and everything else within reach.",
         "Begin with the %{main}, long before anyone is hungry."],
        ["Beat the %{second} until pale; it takes longer than one thinks.",
         "Stir in the %{second} little by little.", "Warm the %{second} gently and never let it boil."],
        ["Leave it for %{minutes} minutes, without looking.", "Give it %{minutes} minutes on the lowest flame.",
         "Fill into small dishes and wait for %{minutes} minutes."],
        ["Meanwhile see to the %{side}.", "Arrange the %{side} around it.", "Fold in half of the %{side}."],
        ["Serve cold, on cold plates.", "Serve while it is still warm.", "Dust with sugar and bring it to the table."]
      ].freeze

      KIND = Kind.new("Nachspeise", "desserts", 150, MAINS, SIDES, PANTRY, STEPS, [15, 20, 25, 30, 40, 60, 90])
    end
  end
end
