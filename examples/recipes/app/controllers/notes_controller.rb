# frozen_string_literal: true

# Notes for the cook.
class NotesController < ApplicationController
  before_action :require_sign_in

  # Leaves a note, and drops the kept page that lacks it.
  def create
    recipe = Recipe.find(params[:recipe_id])
    note = recipe.notes.new(user: Current.user, body: params[:body].to_s.strip)
    if note.save
      Rails.cache.delete(page_key("name", recipe.name))
      flash[:notice] = "The cook will read it."
    else
      flash[:alert] = note.errors.full_messages.to_sentence
    end
    redirect_to way_back(named_recipe_path(recipe.name)), status: :see_other
  end
end
