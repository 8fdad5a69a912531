# frozen_string_literal: true

require "test_helper"
require_relative "../../../examples/recipes/lib/recipes/generator"

module Recipes
  # What the generator invents.
  class GeneratorTest < ActiveSupport::TestCase
    # @return [Generator] the one whose recipes the application has
    def self.all
      @all ||= Generator.new
    end

    def recipes
      self.class.all.recipes
    end

    test "it invents the same recipes and notes each time, on every Ruby" do
      assert_equal Generator.new(count: 200).recipes, Generator.new(count: 200).recipes
      assert_equal recipes.first(50).map { |recipe| recipe[:title] },
                   Generator.new(count: 50).recipes.map { |recipe| recipe[:title] }
      assert_equal ["Geröstete Maultaschen mit Röstzwiebeln", "myknzlpzl", "Hauptspeise, Vegetarisch, Schnell"],
                   recipes[712].values_at(:title, :name, :categories)
      assert_equal 713, recipes[712][:id]
    end

    test "another seed has other recipes" do
      assert_not_equal Generator.new(count: 20).recipes, Generator.new(seed: 1, count: 20).recipes
    end

    test "there are three thousand, and no name or title twice" do
      assert_equal [3000] * 3, [recipes, recipes.uniq { |recipe| recipe[:name] },
                                recipes.uniq { |recipe| recipe[:title] }].map(&:size)
    end

    test "names are what a path takes, and none is a page's" do
      names = recipes.map { |recipe| recipe[:name] }
      assert_empty names.grep_v(/\A[a-z]{3,16}\z/)
      assert_empty names & Generator::RESERVED
    end

    test "every kind has five pages of twenty and more, and so has the letter G" do
      kinds = recipes.map { |recipe| recipe[:categories].split(", ").first }.tally
      assert_equal %w[Gebäck Getränk Hauptspeise Nachspeise Salat Suppe], kinds.keys.sort
      assert_operator kinds.values.min, :>, 100
      letters = recipes.map { |recipe| recipe[:letter] }.tally
      assert_operator letters["G"], :>, 100
      assert_equal [*"A".."W", "Z"], letters.keys.sort
    end

    test "no category is part of another's name, as their LIKE takes for granted" do
      names = Vocabulary.kinds.map(&:name) + Vocabulary::TAGS.keys
      assert_empty names.permutation(2).select { |one, other| other.downcase.include?(one.downcase) }
    end

    test "recipes are whole: ingredients with amounts, none twice, and steps without gaps" do
      recipes.each do |recipe|
        amounts, things = recipe[:ingredients].transpose
        assert_equal things.uniq, things, recipe[:title]
        assert_empty amounts.grep_v(/\A(?:\d+|\d*½)(?: (?:g|ml|tbsp|tsp))?\z/), recipe[:title]
        assert_not_includes recipe[:steps], "%"
        assert_equal 3, recipe[:colours].scan(/#\h{6}/).size
      end
    end

    test "titles say in German what their glosses say in English" do
      title = "Geröstete Maultaschen mit Röstzwiebeln"
      assert_equal "Roasted Swabian ravioli with fried onions", recipes.find { |each| each[:title] == title }[:gloss]
    end

    test "only what has neither meat nor fish in it is for vegetarians" do
      categories = recipes.map { |recipe| recipe[:categories].split(", ") }
      assert_empty(categories.select { |names| names.include?("Vegetarisch") && names.intersect?(%w[Fleisch Fisch]) })
      bacon = recipes.select { |recipe| recipe[:title].match?(/Speck|Würst|Krabben|lachs|forelle/i) }
      assert_not_empty bacon
      assert_empty(bacon.select { |recipe| recipe[:categories].include?("Vegetarisch") })
    end
  end
end
