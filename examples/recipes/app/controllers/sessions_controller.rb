# frozen_string_literal: true

# Signing in and out.
class SessionsController < ApplicationController
  # Wrong passwords for a name and an address, and the time in which they count.
  ATTEMPTS = 10
  WINDOW = 3.minutes

  # The form.
  def new
    @name = ""
  end

  # The session that was there before ends: whoever knew its id has nothing of the one that begins.
  def create
    @name = params[:name].to_s.strip.downcase
    return refuse("Too many attempts. Please wait some minutes.", 429) if failures >= ATTEMPTS

    user = User.authenticate(@name, params[:password].to_s)
    return refuse("This is not a name and its password.", 422, failed: true) unless user

    reset_session
    session[:user_id] = user.id
    session[:agent] = request.user_agent.to_s[0, 200]
    redirect_to way_back(account_path), status: :see_other
  end

  # The session ends, here and now.
  def destroy
    reset_session
    redirect_to root_path, status: :see_other, notice: "You are signed out."
  end

  private

  def refuse(message, status, failed: false)
    Rails.cache.increment(failures_key, 1, expires_in: WINDOW) if failed
    flash.now[:alert] = message
    render :new, status: status
  end

  # Counted in the cache, which all processes share.
  def failures
    Rails.cache.read(failures_key, raw: true).to_i
  end

  def failures_key
    ["failures", request.remote_ip, Digest::SHA256.hexdigest(@name)]
  end
end
