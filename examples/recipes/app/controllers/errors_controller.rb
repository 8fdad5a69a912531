# frozen_string_literal: true

# What is not in the book.
class ErrorsController < ApplicationController
  # For addresses that lead nowhere.
  def missing
    excuse("missing", 404)
  end
end
