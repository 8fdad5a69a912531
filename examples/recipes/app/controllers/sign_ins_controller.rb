# frozen_string_literal: true

# The sessions of whoever is signed in: each can be ended, here and now, from any other. Larder knows them by handles,
# which say nothing about the ids in anybody's cookies.
class SignInsController < ApplicationController
  before_action :require_sign_in
  before_action :require_larder

  # Ends one, if it is a session of the same user.
  def destroy
    ended = Larder::Sessions.revoke(params[:handle], of: Current.user)
    go_back(ended ? "That session has ended." : "That session had ended before.")
  end

  # Ends all but this one.
  def clear
    go_back("Signed out in #{helpers.pluralize(Larder::Sessions.logout(Current.user, except: session),
"other place")}.")
  end

  private

  def require_larder
    head :not_found unless Recipes.sessions_in_larder?
  end

  def go_back(notice)
    redirect_to account_path, status: :see_other, notice: notice
  end
end
