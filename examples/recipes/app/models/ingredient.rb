# frozen_string_literal: true

# A line of what is needed for a recipe.
class Ingredient < ApplicationRecord
  belongs_to :recipe
end
