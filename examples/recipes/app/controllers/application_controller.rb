# frozen_string_literal: true

# What all pages have in common: who is signed in, pages that are kept in the cache, and what is said when a page cannot
# be had.
class ApplicationController < ActionController::Base
  protect_from_forgery with: :exception

  prepend_before_action :begin_request

  rescue_from(ActiveRecord::RecordNotFound) { excuse("missing", 404) }
  rescue_from(ActionController::InvalidAuthenticityToken) { excuse("outdated", 422) }

  private

  # The session says who is signed in. Reading it makes none.
  def begin_request
    Current.began = Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond)
    id = session[:user_id]
    Current.user = User.find_by(id: id) if id
  end

  # For pages that only make sense when somebody is.
  def require_sign_in
    return if Current.user

    redirect_to new_session_path(back: request.get? ? request.fullpath : nil), alert: "Please sign in first."
  end

  # Gives whoever comes for the first time a session.
  def remember_visitor
    session[:visited] ||= Time.now.to_i
  end

  # Answers a page whose body is kept in the cache. What is around it is the reader's own, and made each time.
  #
  # @param key [Array<String>] what the page is of
  # @yieldreturn [Hash{String => Object}] what else to keep of it; what the view needs is set meanwhile
  # @return [Hash{String => Object}] what was kept
  def cached_page(*key, &kept)
    return page_of(&kept) unless perform_caching

    Current.cache = "hit"
    page = Rails.cache.fetch(page_key(*key)) do
      Current.cache = "miss"
      page_of(&kept)
    end
    page.tap { @body = page.fetch("body").html_safe }
  end

  def page_of
    kept = yield
    @body = render_to_string(action_name, layout: false)
    { **kept, "body" => @body.to_str }
  end

  # Pages made by other views are other pages.
  def page_key(*key)
    ["page", Recipes.views, *key]
  end

  def excuse(page, status)
    Current.cache = nil
    render "errors/#{page}", status: status, formats: [:html]
  end

  # @return [String] the page of this application that a form says it was sent from, or the one given
  def way_back(otherwise)
    url_from(params[:back].to_s) || otherwise
  end
end
