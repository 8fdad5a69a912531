# frozen_string_literal: true

# The words of soups.

module Recipes
  module Vocabulary
    module Suppe
      MAINS = Vocabulary.table(Main, <<~TABLE)
        Kürbissuppe         | f | pumpkin soup      | S  | 800 g pumpkin           | #e58f2e
        Linsensuppe         | f | lentil soup       | S  | 300 g brown lentils     | #86653f
        Tomatensuppe        | f | tomato soup       | S  | 1000 g tomatoes         | #cf4326
        Erbsensuppe         | f | pea soup          | S  | 500 g peas              | #92b24e
        Kartoffelsuppe      | f | potato soup       | S  | 800 g floury potatoes   | #e2c878
        Gulaschsuppe        | f | goulash soup      | SM | 500 g diced beef        | #9a4026
        Zwiebelsuppe        | f | onion soup        | S  | 8 onions                | #c99a50
        Fischsuppe          | f | fish soup         | SF | 600 g mixed fish        | #e0a068
        Pilzsuppe           | f | mushroom soup     | S  | 500 g mushrooms         | #a98a63
        Spargelsuppe        | f | asparagus soup    | S  | 750 g asparagus         | #e4e2b4
        Brennnesselsuppe    | f | nettle soup       | S  | 250 g young nettles     | #5f8a44
        Bohneneintopf       | m | bean stew         | S  | 600 g green beans       | #7f9a4a
        Graupensuppe        | f | barley soup       | S  | 150 g pearl barley      | #d8cba0
        Rinderbrühe         | f | beef broth        | SM | 1000 g soup bones       | #c68a3c
        Hühnersuppe         | f | chicken soup      | SM | 1 boiling fowl          | #e6c25a
        Möhrensuppe         | f | carrot soup       | S  | 800 g carrots           | #ea8a33
        Sauerampfersuppe    | f | sorrel soup       | S  | 200 g sorrel            | #8fae4c
        Gurkensuppe         | f | cucumber soup     | S  | 3 cucumbers             | #bcd494
        Steckrübeneintopf   | m | swede stew        | S  | 1 swede                 | #e0b25a
        Lauchsuppe          | f | leek soup         | S  | 4 leeks                 | #b4cc88
        Maronensuppe        | f | chestnut soup     | S  | 400 g chestnuts         | #a97b52
      TABLE

      SIDES = Vocabulary.table(Side, <<~TABLE)
        mit Flädle              | with pancake strips       | 2 thin pancakes          | #e0b561
        mit Grießklößchen       | with semolina dumplings   | 80 g semolina            | #f0e2b4
        mit Croûtons            | with croutons             | 3 slices of bread        | #c58f45
        mit Speck               | with bacon                | 120 g bacon              | #b5543c | Fleisch
        mit Würstchen           | with frankfurters         | 4 frankfurters           | #c0683e | Fleisch
        mit Räucherlachs        | with smoked salmon        | 150 g smoked salmon      | #e88a68 | Fisch
        mit Kresse              | with cress                | 2 boxes of cress         | #5f9a3c
        mit Schnittlauch        | with chives               | 1 bunch of chives        | #4f8a3c
        mit Kürbiskernen        | with pumpkin seeds        | 50 g pumpkin seeds       | #59713c
        mit Ingwer              | with ginger               | 40 g ginger              | #e0c277
        mit Sahnehaube          | with whipped cream        | 150 ml cream             | #f6efdc
        mit Majoran             | with marjoram             | 2 tsp marjoram           | #7f8f55
        mit Apfelwürfeln        | with diced apple          | 2 apples                 | #dcd67a
        mit Backerbsen          | with soup pearls          | 80 g soup pearls         | #dca94a
        mit Walnusspesto        | with walnut pesto         | 80 g walnuts             | #8a8a4a
        mit Ziegenkäse          | with goat’s cheese        | 120 g goat’s cheese      | #f2ecdc
        mit Leberknödeln        | with liver dumplings      | 250 g minced liver       | #7d4f3c | Fleisch
        mit Krabben             | with shrimps              | 150 g shrimps            | #e89a86 | Fisch
        mit Liebstöckel         | with lovage               | 1 sprig of lovage        | #4f7f3f
      TABLE

      PANTRY = ["1 onion", "1 carrot", "1 stick of celery", "1200 ml stock", "2 tbsp butter", "1 bay leaf",
                "1 pinch of nutmeg", "1 tbsp vinegar", "100 ml cream", "1 sprig of parsley", "1 clove of garlic"].freeze

      STEPS = [
        ["Clean the %{main} and cut into pieces that fit a spoon.", "Put the %{main} ready; nothing has to be pretty.",
         "Weigh out the %{main}. A little more does no harm."],
        ["Sweat the %{second} in a tall pot without letting it brown.",
         "Melt the fat in a pot and let the %{second} turn glassy in it."],
        ["Fill up with liquid and simmer for %{minutes} minutes with the lid ajar.",
         "Cover with liquid, bring to the boil once, then let it tremble for %{minutes} minutes."],
        ["Blend half of it and leave the rest as it is.", "Pass it through a sieve, or do not.",
         "Stir with a wooden spoon until it thickens by itself."],
        ["Ladle into warm bowls and finish with the %{side}.", "Add the %{side} at the table."]
      ].freeze

      KIND = Kind.new("Suppe", "soups", 140, MAINS, SIDES, PANTRY, STEPS, [20, 25, 30, 40, 50, 70, 90])
    end
  end
end
