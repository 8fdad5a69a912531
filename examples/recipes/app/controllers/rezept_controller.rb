# frozen_string_literal: true

# The book: the index and pages by name, whose bodies are kept in the cache; pages by number and lists, which are made
# each time.
class RezeptController < ApplicationController
  # Categories and letters.
  def index
    cached_page("index") do
      @counts = category_counts
      @letters = Recipe.letters
      {}
    end
    render "page"
  end

  # A recipe, by its unique name.
  def by_name
    page = cached_page("name", params[:name]) do
      @recipe = Recipe.find_by!(name: params[:name])
      { "id" => @recipe.id, "title" => @recipe.title, "name" => @recipe.name }
    end
    @title = page.fetch("title")
    @recipe_id = page.fetch("id")
    @other_way = ["The same, not cached", recipe_path(@recipe_id)]
    render "page"
  end

  # The same, by its number, with everything asked for anew.
  def show
    @recipe = Recipe.find(params[:id])
    @title = @recipe.title
    @recipe_id = @recipe.id
    @other_way = ["The same, from the cache", named_recipe_path(@recipe.name)]
  end

  # The recipes of a category, in pages.
  def category
    @title = params[:category]
    @gloss = helpers.category_gloss(@title)
    list(Recipe.in_category(@title))
  end

  # Those whose title begins with a letter, in pages.
  def letter
    @title = params[:letter].upcase
    list(Recipe.where(letter: @title))
  end

  private

  def category_counts
    helpers.categories.to_h { |name, _| [name, Recipe.in_category(name).count] }
  end

  def list(recipes)
    @page = [params[:page].to_s.to_i, 1].max
    @count = recipes.count
    @pages = (@count - 1).div(Recipe::PAGE) + 1
    raise ActiveRecord::RecordNotFound if @page > @pages || @count.zero?

    @recipes = recipes.in_order.offset((@page - 1) * Recipe::PAGE).limit(Recipe::PAGE).to_a
    render "list"
  end
end
