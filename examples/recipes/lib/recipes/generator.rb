# frozen_string_literal: true

# Invents recipes from a seed: the same seed always gives the same recipes. Stores none.

require_relative "vocabulary"

module Recipes
  # Some thousands of recipes, and the notes of readers on them, as Hashes ready to be inserted.
  class Generator
    # How many recipes there are where nobody says.
    COUNT = 3000
    # Ids of recipes with a name of their own choosing: those that the published comparison asks for.
    NAMES = { 713 => "myknzlpzl" }.freeze
    # What no recipe may be called, since pages are.
    RESERVED = %w[index show cat letter].freeze

    ENDINGS = { "m" => "er", "f" => "e", "n" => "es", "p" => "e" }.freeze
    TAGS_OF_SORTS = { "M" => "Fleisch", "F" => "Fisch" }.freeze
    # Of kinds that tell whether they are for vegetarians.
    SAVOURY = %w[Hauptspeise Suppe Salat].freeze
    # Minutes up to which a recipe is quick.
    QUICK = 25
    UMLAUTS = { "ä" => "a", "ö" => "o", "ü" => "u", "ß" => "s" }.freeze
    private_constant :ENDINGS, :TAGS_OF_SORTS, :SAVOURY, :QUICK, :UMLAUTS

    # @param seed [Integer]
    # @param count [Integer] recipes
    def initialize(seed: 48_048, count: COUNT)
      @random = Random.new(seed)
      @count = count
      @names = RESERVED + NAMES.values
      @titles = {}
    end

    # @return [Array<Hash>] recipes with :id, :name, :title, :gloss (the title in English), :letter, :categories,
    #   :serves, :minutes, :introduction, :steps and :colours (lines of text), and :ingredients, which are pairs of an
    #   amount and a thing
    def recipes
      @recipes ||= Array.new(@count) { |index| recipe(index + 1) }
    end

    # @return [Array<Hash>] with :recipe_id, :reader (a name) and :body
    def notes
      @notes ||= recipes.flat_map do |recipe|
        readers = @random.rand(4).zero? ? Array.new(1 + @random.rand(3)) { one_of(Vocabulary::READERS) }.uniq : []
        readers.map { |reader| { recipe_id: recipe[:id], reader: reader, body: one_of(Vocabulary::NOTES) } }
      end
    end

    private

    def one_of(list)
      list[@random.rand(list.size)]
    end

    def recipe(id)
      kind = kind()
      main, side, adjective = dish(kind)
      serves = one_of([2, 4, 4, 4, 6])
      minutes = one_of(main.sorts.include?("M") ? kind.minutes.last(5) : kind.minutes.first(5)) # meat takes its time
      second, *more = pantry(kind, [main.bought, side.bought].map { |line| bare(line) })
      title = german(main, side, adjective)
      { id: id, name: NAMES[id] || name(main, side, adjective), title: title, gloss: english(main, side, adjective),
        letter: title[0].tr("ÄÖÜ", "AOU"), categories: categories(kind, main, side, minutes),
        serves: serves, minutes: minutes, introduction: one_of(Vocabulary::INTRODUCTIONS),
        steps: steps(kind, main: main.bought, second: second, side: side.bought, minutes: minutes),
        colours: [main.colour, side.colour, one_of(kind.sides).colour].join(" "),
        ingredients: [main.bought, side.bought, second, *more].map { |line| measured(line, serves) } }
    end

    def kind
      at = @random.rand(Vocabulary.kinds.sum(&:share))
      Vocabulary.kinds.find { |kind| (at -= kind.share).negative? }
    end

    # @return [Array(Main, Side, Adjective or nil)] that no recipe before was made of
    def dish(kind)
      loop do
        main = one_of(kind.mains)
        parts = [main, one_of(kind.sides), (adjective(main) unless @random.rand(8).zero?)]
        title = german(*parts)
        return parts unless @titles.key?(title) || title.scan(/\p{Lu}\p{Ll}{3}/).tally.values.max > 1
      ensure
        @titles[title] = true if title
      end
    end

    # Those that do not fit everything are there twice, to be chosen more often.
    def adjective(main)
      @adjectives ||= Hash.new do |known, sort|
        fitting = Vocabulary::ADJECTIVES.select { |word| word.sorts.include?(sort) }
        known[sort] = fitting + fitting.select { |word| word.sorts.size < 6 }
      end
      one_of(@adjectives[main.sorts[0]])
    end

    def german(main, side, adjective)
      word = adjective && adjective.german.sub("-", ENDINGS.fetch(main.gender))
      [word, main.german, side.german].compact.join(" ")
    end

    def english(main, side, adjective)
      text = [adjective&.english, main.english, side.english].compact.join(" ")
      text[0].upcase + text[1..]
    end

    # The consonants of what it is made of.
    def name(main, side, adjective)
      words = [[adjective&.german.to_s, 2], [main.german, 5], [side.german.split(" ", 2).last, 4]]
      name = words.map { |word, length| consonants(word)[0, length] }.join
      name << one_of([*"a".."z"]) while @names.include?(name)
      @names << name
      name
    end

    def consonants(word)
      word.downcase.gsub(/[äöüß]/, UMLAUTS).gsub(/[^a-z]|[aeiou]/, "")
    end

    def categories(kind, main, side, minutes)
      tags = main.sorts.chars.filter_map { |sort| TAGS_OF_SORTS[sort] } + [side.tag].compact
      tags = ["Vegetarisch"] if tags.empty? && SAVOURY.include?(kind.name)
      [kind.name, *tags.uniq, *("Schnell" if minutes <= QUICK)].join(", ")
    end

    # The first of a kind's pantry take part in its steps: one of them is in every recipe. What is there already is not
    # taken twice.
    def pantry(kind, there)
      first, *rest = kind.pantry.reject { |line| there.include?(bare(line)) }
      first, rest[0] = rest[0], first if @random.rand(2) == 1
      [first, *Array.new(3 + @random.rand(3)) { one_of(rest) }.uniq]
    end

    def steps(kind, minutes:, **lines)
      things = lines.transform_values { |line| bare(line) }
      words = { minutes: minutes, **things }
      kind.steps.map { |ways| one_of(ways).gsub(/%\{(\w+)\}/) { words.fetch($1.to_sym).to_s } }.join("\n")
    end

    def thing(line)
      line[/\A[\d.]+ (?:(?:g|ml|tbsp|tsp) )?(.+)\z/, 1]
    end

    # @return [String] the thing alone, of which there may be bunches, cloves or pinches
    def bare(line)
      thing(line).sub(/\A.* of /, "")
    end

    # @return [Array(String, String)] the amount for that number of people, and the thing
    def measured(line, serves)
      number, unit = line.match(/\A([\d.]+)(?: (g|ml|tbsp|tsp)\b)?/).captures
      [[amount(number.to_f * serves / 4, unit), unit].compact.join(" "), thing(line)]
    end

    # For kitchens: halves, and no odd grams.
    def amount(number, unit)
      return (number.round(-1).positive? ? number.round(-1) : number.round).to_s if %w[g ml].include?(unit)

      whole, half = (number * 2).ceil.divmod(2)
      [(whole if whole.positive?), ("½" if half == 1)].join
    end
  end
end
