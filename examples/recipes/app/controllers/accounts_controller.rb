# frozen_string_literal: true

# What a session means to whoever is signed in.
class AccountsController < ApplicationController
  before_action :require_sign_in

  # Who is signed in, where else, and how to end it.
  def show
    @favourites = helpers.favourite_ids.size
    return unless Recipes.sessions_in_larder?

    @sessions = Larder::Sessions.for(Current.user)
    @here = Larder::Sessions.handle_of(session)
    @active = Larder::Sessions.active(last: 5.minutes)
  end
end
