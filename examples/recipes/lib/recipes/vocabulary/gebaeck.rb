# frozen_string_literal: true

# The words of baked goods.

module Recipes
  module Vocabulary
    module Gebaeck
      MAINS = Vocabulary.table(Main, <<~TABLE)
        Apfelkuchen       | m | apple cake          | B | 1000 g apples           | #d9b455
        Käsekuchen        | m | cheesecake          | B | 750 g quark             | #f0dc9c
        Streuselkuchen    | m | crumble cake        | B | 500 g flour             | #deb566
        Nussecken         | p | nut triangles       | B | 300 g chopped nuts      | #a8763e
        Hefezopf          | m | plaited loaf        | B | 500 g flour             | #cf933f
        Quarktaschen      | p | curd pastries       | B | 300 g quark             | #e6c67c
        Mohnschnecken     | p | poppy seed whirls   | B | 200 g poppy seed        | #4a4a56
        Lebkuchen         | p | gingerbread         | B | 300 g honey             | #8a5228
        Vanillekipferl    | p | vanilla crescents   | B | 250 g flour             | #ecd9a6
        Zwiebelkuchen     | m | onion tart          | B | 1000 g onions           | #d3a552
        Roggenbrot        | n | rye bread           | B | 600 g rye flour         | #7d5534
        Butterkuchen      | m | butter cake         | B | 250 g butter            | #e9c566
        Zimtsterne        | p | cinnamon stars      | B | 350 g ground almonds    | #b98a58
        Gugelhupf         | m | ring cake           | B | 400 g flour             | #c98f45
        Zwetschgenkuchen  | m | plum cake           | B | 1200 g plums            | #6a3560
        Brezeln           | p | pretzels            | B | 500 g bread flour       | #a3602a
        Kirschtorte       | f | cherry gateau       | B | 500 g cherries          | #8f1f33
        Biskuitrolle      | f | Swiss roll          | B | 6 eggs                  | #f0cf7a
        Windbeutel        | p | cream puffs         | B | 150 g flour             | #e3bd74
        Honigkuchen       | m | honey cake          | B | 350 g honey             | #b0742f
        Rhabarberkuchen   | m | rhubarb cake        | B | 800 g rhubarb           | #d4748a
        Waffeln           | p | waffles             | B | 250 g flour             | #dba94e
        Dinkelbrötchen    | p | spelt rolls         | B | 500 g spelt flour       | #c08f52
        Pfeffernüsse      | p | spice nuts          | B | 250 g flour             | #9a6a3a
      TABLE

      SIDES = Vocabulary.table(Side, <<~TABLE)
        mit Mandeln         | with almonds        | 100 g almonds           | #dcb987
        mit Streuseln       | with crumble        | 150 g cold butter       | #e6c56f
        mit Rosinen         | with raisins        | 100 g raisins           | #5a3a2c
        mit Zuckerguss      | with icing          | 150 g icing sugar       | #f8f4ec
        mit Mohn            | with poppy seed     | 80 g poppy seed         | #3f4352
        mit Quark           | with quark          | 250 g quark             | #f5efe0
        mit Haselnüssen     | with hazelnuts      | 120 g hazelnuts         | #b5834a
        mit Schokolade      | with chocolate      | 150 g dark chocolate    | #4f2d20
        mit Zimt            | with cinnamon       | 2 tsp cinnamon          | #a8672f
        mit Kardamom        | with cardamom       | 1 tsp cardamom          | #b5b07a
        mit Vanille         | with vanilla        | 1 vanilla pod           | #f0e0a8
        mit Sesam           | with sesame         | 40 g sesame             | #e6d3a0
        mit Honig           | with honey          | 3 tbsp honey            | #e3a52e
        mit Orangeat        | with candied orange | 60 g candied orange     | #e8872a
        mit Zitrone         | with lemon          | 1 lemon                 | #f2e36a
        mit Walnüssen       | with walnuts        | 120 g walnuts           | #b98d55
        mit Buttercreme     | with butter cream   | 200 g butter            | #f3e2a8
        mit Marzipan        | with marzipan       | 150 g marzipan          | #ecdcb4
        mit Aprikosen       | with apricots       | 300 g apricots          | #f0a04a
        mit Kümmel          | with caraway        | 1 tbsp caraway          | #8a6a45
        mit Pflaumenmus     | with plum butter    | 200 g plum butter       | #4a2340
      TABLE

      PANTRY = ["250 g flour", "125 g butter", "100 g sugar", "3 eggs", "1 pinch of salt", "150 ml milk", "20 g yeast",
                "2 tsp baking powder", "1 lemon", "1 tsp vanilla sugar", "2 tbsp icing sugar"].freeze

      STEPS = [
        ["Take the %{main} out of the larder in time; it should be at the warmth of the room.",
         "Weigh the %{main} exactly. In baking it matters."],
        ["Knead with the %{second} until the dough leaves the bowl.",
         "Stir in the %{second}, but no longer than needed.",
         "Rub the %{second} in with your fingertips."],
        ["Let the dough rest under a cloth until it has grown.", "Chill it for half an hour.",
         "Heat the oven to 180 °C meanwhile."],
        ["Shape it, and do not forget the %{side}.", "Spread the %{side} over it.", "Work in the %{side} last."],
        ["Bake for %{minutes} minutes on the middle shelf, then let it cool on a rack.",
         "Bake until golden, about %{minutes} minutes. Trust your nose."]
      ].freeze

      KIND = Kind.new("Gebäck", "cakes and breads", 140, MAINS, SIDES, PANTRY, STEPS, [20, 25, 30, 35, 45, 60])
    end
  end
end
