# frozen_string_literal: true

# The words of salads.

module Recipes
  module Vocabulary
    module Salat
      MAINS = Vocabulary.table(Main, <<~TABLE)
        Kartoffelsalat     | m | potato salad      | L  | 1000 g waxy potatoes       | #e6c66c
        Gurkensalat        | m | cucumber salad    | L  | 2 cucumbers                | #a9cb82
        Linsensalat        | m | lentil salad      | L  | 250 g mountain lentils     | #6d5a3a
        Krautsalat         | m | cabbage salad     | L  | 1 small white cabbage      | #dfe5b4
        Bohnensalat        | m | bean salad        | L  | 600 g green beans          | #5f8f3f
        Feldsalat          | m | corn salad        | L  | 200 g corn salad           | #4f8a3c
        Nudelsalat         | m | noodle salad      | L  | 400 g short noodles        | #ecd17a
        Tomatensalat       | m | tomato salad      | L  | 800 g tomatoes             | #d2452a
        Fenchelsalat       | m | fennel salad      | L  | 3 bulbs of fennel          | #d3e0b0
        Rote-Bete-Salat    | m | beetroot salad    | L  | 600 g beetroot             | #8c2743
        Spargelsalat       | m | asparagus salad   | L  | 1000 g asparagus           | #dfe3ae
        Wurstsalat         | m | sausage salad     | LM | 400 g lyoner sausage       | #d98f7a
        Heringssalat       | m | herring salad     | LF | 6 matjes fillets           | #cfc3b2
        Endiviensalat      | m | endive salad      | L  | 1 endive                   | #bcd078
        Löwenzahnsalat     | m | dandelion salad   | L  | 150 g young dandelion      | #6b9440
        Graupensalat       | m | barley salad      | L  | 200 g pearl barley         | #ddd0a6
        Selleriesalat      | m | celeriac salad    | L  | 1 celeriac                 | #eadfbc
        Möhrensalat        | m | carrot salad      | L  | 600 g carrots              | #ea8a33
        Brotsalat          | m | bread salad       | L  | 300 g stale bread          | #c79a58
        Kohlrabisalat      | m | kohlrabi salad    | L  | 3 kohlrabi                 | #cbdca6
      TABLE

      SIDES = Vocabulary.table(Side, <<~TABLE)
        mit Radieschen       | with radishes          | 1 bunch of radishes       | #cf3a5c
        mit Äpfeln           | with apples            | 2 apples                  | #cfd06a
        mit Walnüssen        | with walnuts           | 80 g walnuts              | #b98d55
        mit Ziegenkäse       | with goat’s cheese     | 150 g goat’s cheese       | #f2ecdc
        mit Speckwürfeln     | with diced bacon       | 120 g bacon               | #b5543c | Fleisch
        mit Senfdressing     | with mustard dressing  | 2 tbsp mustard            | #dcb13c
        mit Kürbiskernöl     | with pumpkin seed oil  | 3 tbsp pumpkin seed oil   | #3d4f2a
        mit Birnen           | with pears             | 2 pears                   | #dcd884
        mit Orangen          | with oranges           | 2 oranges                 | #ee9a2e
        mit Granatapfel      | with pomegranate       | 1 pomegranate             | #b32041
        mit Räucherforelle   | with smoked trout      | 200 g smoked trout        | #d8b48c | Fisch
        mit Ei               | with egg               | 4 eggs                    | #f2d45c
        mit Dill             | with dill              | 1 bunch of dill           | #6f9a4c
        mit Minze            | with mint              | 1 bunch of mint           | #4f9a5c
        mit Pfifferlingen    | with chanterelles      | 250 g chanterelles        | #e0a23f
        mit Himbeeressig     | with raspberry vinegar | 3 tbsp raspberry vinegar  | #c43a5a
        mit Kapern           | with capers            | 2 tbsp capers             | #6f7f3a
        mit Joghurt          | with yoghurt           | 200 g yoghurt             | #f6f3ea
        mit Haselnüssen      | with hazelnuts         | 80 g hazelnuts            | #b5834a
        mit Trauben          | with grapes            | 200 g grapes              | #7d3f68
      TABLE

      PANTRY = ["3 tbsp vinegar", "5 tbsp oil", "1 red onion", "1 tsp mustard", "1 pinch of sugar", "100 ml stock",
                "1 bunch of chives", "1 lemon", "1 clove of garlic", "1 tsp honey"].freeze

      STEPS = [
        ["Clean the %{main} and cut as thin as patience allows.", "Cook the %{main} if raw is not to your taste.",
         "Prepare the %{main} and let it drain well."],
        ["Stir a dressing of the %{second} and what else there is, with salt and pepper.",
         "Mix the %{second} with salt first, then with the rest of the dressing."],
        ["Turn everything over with your hands, once.", "Fold in the dressing while nobody is looking at the clock.",
         "Pour the dressing over and let it draw for %{minutes} minutes."],
        ["Scatter the %{side} on top.", "Add the %{side} shortly before it is served."],
        ["Eat with bread.", "It keeps until the evening, but not longer.", "Taste for salt, always once more."]
      ].freeze

      KIND = Kind.new("Salat", "salads", 130, MAINS, SIDES, PANTRY, STEPS, [10, 15, 20, 25, 30, 45])
    end
  end
end
