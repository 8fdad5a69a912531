# frozen_string_literal: true

# One recipe, as the generator invented it.
class Recipe < ApplicationRecord
  # Recipes of a page of a list.
  PAGE = 20
  # Recipes that are said to be like one.
  ALIKE = 4

  has_many :ingredients, -> { order(:id) }, inverse_of: :recipe
  has_many :notes, -> { order(:created_at, :id) }, inverse_of: :recipe

  # By a LIKE over the text of its categories, as the pages that are measured have it.
  scope :in_category, ->(name) { where("categories LIKE ?", "%#{sanitize_sql_like(name)}%") }
  scope :in_order, -> { order(:title, :id) }

  # @return [Hash{String => Integer}] how many recipes there are of each letter
  def self.letters
    group(:letter).order(:letter).count
  end

  # @return [Array<String>] its categories, the kind first
  def category_names
    categories.split(", ")
  end

  # @return [Array<Recipe>] others of all its categories: those that were invented next, or first after the last
  def alike
    others = Recipe.where(categories: categories).order(:id)
    found = others.where("id > ?", id).limit(ALIKE).to_a
    found + others.where("id < ?", id).limit(ALIKE - found.size)
  end

  # @return [Array(Recipe, Recipe)] the ones before and after it by their titles; nil where it is the first or last
  def neighbours
    [Recipe.where("title < ?", title).order(title: :desc, id: :desc).first,
     Recipe.where("title > ?", title).order(:title, :id).first]
  end

  # @return [Array<String>]
  def step_texts
    steps.lines(chomp: true)
  end
end
