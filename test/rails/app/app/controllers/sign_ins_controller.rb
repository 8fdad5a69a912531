# frozen_string_literal: true

# Who is signed in, in the session.
class SignInsController < ActionController::Base
  skip_forgery_protection

  def show
    render plain: session[:user_id].inspect
  end

  def create
    reset_session
    session[:user_id] = 1
    head :created
  end

  def destroy
    reset_session
    head :no_content
  end
end
