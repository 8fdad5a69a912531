# frozen_string_literal: true

# The words of main dishes.

module Recipes
  module Vocabulary
    module Hauptspeise
      MAINS = Vocabulary.table(Main, <<~TABLE)
        Schweinebraten   | m | roast pork         | M | 1000 g pork shoulder      | #b9794d
        Rinderbäckchen   | p | ox cheeks          | M | 1200 g ox cheeks          | #7c4632
        Rinderrouladen   | p | beef olives        | M | 4 slices of beef topside  | #8a5138
        Sauerbraten      | m | soused beef        | M | 1200 g beef shoulder      | #6f3d2c
        Lammkeule        | f | leg of lamb        | M | 1400 g leg of lamb        | #9c5d43
        Lammschulter     | f | shoulder of lamb   | M | 1200 g shoulder of lamb   | #a2644a
        Rehrücken        | m | saddle of venison  | M | 900 g saddle of venison   | #84402f
        Hirschgulasch    | n | venison goulash    | M | 900 g diced venison       | #75392b
        Kaninchen        | n | rabbit             | M | 4 rabbit legs             | #c79a70
        Entenbrust       | f | duck breast        | M | 4 duck breasts            | #a35d47
        Gänsekeulen      | p | goose legs         | M | 4 goose legs              | #a86c3f
        Hähnchen         | n | chicken            | M | 1 chicken                 | #d3a05e
        Kalbsschnitzel   | n | veal escalope      | M | 4 veal escalopes          | #d8b07a
        Frikadellen      | p | meatballs          | M | 600 g minced beef         | #8f5a3c
        Kohlrouladen     | p | cabbage rolls      | M | 8 large cabbage leaves    | #8fa25c
        Bratwürste       | p | sausages           | M | 8 sausages                | #b5703f
        Forelle          | f | trout              | F | 4 trout                   | #c9b59a
        Zander           | m | pike-perch         | F | 700 g pike-perch          | #e0d2b4
        Lachs            | m | salmon             | F | 700 g salmon              | #e2906c
        Saibling         | m | char               | F | 4 char                    | #e0a584
        Kabeljau         | m | cod                | F | 700 g cod                 | #ece2cc
        Karpfen          | m | carp               | F | 1200 g carp               | #b59a70
        Scholle          | f | plaice             | F | 4 plaice                  | #d9c9a4
        Hecht            | m | pike               | F | 900 g pike                | #c6bd98
        Maultaschen      | p | Swabian ravioli    | T | 12 Maultaschen            | #e2c88e
        Spätzle          | p | spätzle            | T | 400 g flour               | #ecd488
        Schupfnudeln     | p | finger noodles     | T | 800 g floury potatoes     | #dfb762
        Kartoffelknödel  | p | potato dumplings   | T | 1000 g floury potatoes    | #ead9a4
        Semmelknödel     | p | bread dumplings    | T | 6 stale rolls             | #d8ba80
        Kürbisgnocchi    | p | pumpkin gnocchi    | T | 600 g pumpkin             | #e49a3a
        Bandnudeln       | p | ribbon noodles     | T | 400 g ribbon noodles      | #ecd793
        Reibekuchen      | p | potato fritters    | T | 1000 g waxy potatoes      | #cf9b45
        Gerstenrisotto   | n | barley risotto     | T | 300 g pearl barley        | #ddd0a6
        Pfannkuchen      | p | pancakes           | V | 250 g flour               | #e0b561
        Auberginen       | p | aubergines         | V | 2 aubergines              | #5d4560
        Paprikaschoten   | p | peppers            | V | 4 peppers                 | #c8452f
        Zucchini         | p | courgettes         | V | 4 courgettes              | #7f9a4a
        Blumenkohl       | m | cauliflower        | V | 1 cauliflower             | #ece4cb
        Kohlrabi         | m | kohlrabi           | V | 4 kohlrabi                | #b9cf98
        Sellerie         | m | celeriac           | V | 1 celeriac                | #e0d3ac
        Linsenbraten     | m | lentil roast       | V | 400 g brown lentils       | #86653f
        Champignons      | p | mushrooms          | V | 800 g mushrooms           | #c8b293
      TABLE

      SIDES = Vocabulary.table(Side, <<~TABLE)
        mit Fenchel             | with fennel             | 2 bulbs of fennel          | #b5c98a
        mit Steinpilzen         | with porcini            | 300 g porcini              | #9a7347
        mit Pfifferlingen       | with chanterelles       | 300 g chanterelles         | #e0a23f
        mit Rosmarinkartoffeln  | with rosemary potatoes  | 800 g small potatoes       | #e0be6a
        mit Berglinsen          | with mountain lentils   | 250 g mountain lentils     | #6d5a3a
        mit Rotkohl             | with red cabbage        | 1 red cabbage              | #7a3560
        mit Rahmwirsing         | with creamed savoy      | 1 savoy cabbage            | #97b565
        mit Möhren              | with carrots            | 500 g carrots              | #e88534
        mit Rosenkohl           | with Brussels sprouts   | 500 g Brussels sprouts     | #7fa048
        mit Grünkohl            | with kale               | 600 g kale                 | #47703c
        mit Sauerkraut          | with sauerkraut         | 500 g sauerkraut           | #e2d59a
        mit Speckbohnen         | with beans and bacon    | 500 g green beans          | #5f8a3d | Fleisch
        mit Erbsenpüree         | with pea purée          | 500 g peas                 | #8fbb4c
        mit Selleriepüree       | with celeriac purée     | 600 g celeriac             | #e8dcb8
        mit Spargel             | with asparagus          | 1000 g asparagus           | #d9dfa8
        mit Blattspinat         | with spinach            | 500 g spinach              | #3f7040
        mit Roter Bete          | with beetroot           | 500 g beetroot             | #8c2743
        mit Schwarzwurzeln      | with salsify            | 600 g salsify              | #e2dac2
        mit Lauch               | with leeks              | 3 leeks                    | #a9c57e
        mit Röstzwiebeln        | with fried onions       | 4 onions                   | #b9772f
        mit Backpflaumen        | with prunes             | 200 g prunes               | #4a2c3a
        mit Quitten             | with quinces            | 2 quinces                  | #e6bf4e
        mit Äpfeln              | with apples             | 3 apples                   | #cfd06a
        mit Preiselbeeren       | with lingonberries      | 150 g lingonberries        | #b3213a
        mit Maronen             | with chestnuts          | 250 g chestnuts            | #8b5a35
        mit Walnüssen           | with walnuts            | 100 g walnuts              | #b98d55
        mit Schmorgurken        | with braised cucumbers  | 2 cucumbers                | #a4c27a
        mit Kräuterseitlingen   | with king oysters       | 300 g king oyster mushrooms | #d8c3a0
        in Senfsauce            | in mustard sauce        | 3 tbsp mustard             | #dcb13c
        in Rieslingsauce        | in Riesling sauce       | 250 ml Riesling            | #e8dc9c
        in Rahmsauce            | in cream sauce          | 250 ml cream               | #f0e3c4
        in Biersauce            | in beer sauce           | 330 ml dark beer           | #8a5a2c
        in Dillsauce            | in dill sauce           | 1 bunch of dill            | #a9bf6e
        in Kräutersauce         | in herb sauce           | 2 bunches of green herbs   | #86a94a
        in Rotweinsauce         | in red wine sauce       | 300 ml red wine            | #6d2033
        in Meerrettichsauce     | in horseradish sauce    | 60 g horseradish           | #efe8d2
        in Paprikasauce         | in paprika sauce        | 2 tbsp sweet paprika       | #cc4c2a
      TABLE

      PANTRY = ["2 onions", "1 clove of garlic", "3 tbsp butter", "2 tbsp oil", "500 ml stock", "1 bay leaf",
                "1 sprig of thyme", "1 tsp caraway", "1 bunch of parsley", "100 ml cream", "1 tbsp flour",
                "1 lemon", "1 pinch of nutmeg"].freeze

      STEPS = [
        ["Season the %{main} with salt and pepper and let it rest a little.",
         "Wash the %{main}, pat it dry and salt it well.", "Prepare the %{main} and set it aside."],
        ["Brown it in hot fat from all sides, then take it out of the pan.",
         "Heat the fat until it stops foaming, and give it colour in there.",
         "Let it take colour slowly; the pan should be wide."],
        ["Soften the %{second} in what is left in the pan.", "Add the %{second} and stir until it smells good.",
         "Scrape the pan with a splash of water and add the %{second}."],
        ["Now the %{side}: add it, cover, and leave it alone for %{minutes} minutes.",
         "Put everything back with the %{side} and cook it for %{minutes} minutes on a low flame.",
         "Cook the %{side} beside it; both are ready in %{minutes} minutes."],
        ["Taste, then taste again. Serve hot.", "Let it stand for five minutes before it comes to the table.",
         "Thicken what is in the pan and pour it over. Serve at once."]
      ].freeze

      KIND = Kind.new("Hauptspeise", "main dishes", 360, MAINS, SIDES, PANTRY, STEPS,
                      [25, 35, 45, 60, 75, 90, 120, 150])
    end
  end
end
