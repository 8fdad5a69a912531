# frozen_string_literal: true

# Favourites are kept in the session, each under a key of its own: two tabs that mark different recipes at the same time
# change different keys, and both are kept.
class FavouritesController < ApplicationController
  # As many as a cookie would hold, where sessions are kept in one.
  MOST = 100

  before_action :require_sign_in

  # The marked recipes.
  def index
    @recipes = Recipe.where(id: helpers.favourite_ids).in_order
  end

  # Marks a recipe.
  def create
    recipe = Recipe.find(params[:recipe_id])
    if helpers.favourite_ids.size < MOST
      session[helpers.favourite_key(recipe.id)] = true
    else
      flash[:alert] = "#{MOST} favourites are as many as can be kept."
    end
    go_back(recipe)
  end

  # Takes the mark away.
  def destroy
    recipe = Recipe.find(params[:recipe_id])
    session.delete(helpers.favourite_key(recipe.id))
    go_back(recipe)
  end

  private

  def go_back(recipe)
    redirect_to way_back(named_recipe_path(recipe.name)), status: :see_other
  end
end
