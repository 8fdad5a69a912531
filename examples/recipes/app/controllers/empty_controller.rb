# frozen_string_literal: true

# A page with next to nothing on it: what is left is what a session costs.
class EmptyController < ApplicationController
  before_action :remember_visitor

  # No view, no database.
  def index
    render plain: "An empty plate.\n"
  end
end
