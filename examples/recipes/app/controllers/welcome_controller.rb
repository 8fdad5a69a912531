# frozen_string_literal: true

# The first page. It asks no database.
class WelcomeController < ApplicationController
  before_action :remember_visitor

  # What this is, and what can be tried.
  def index; end
end
