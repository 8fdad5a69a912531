# frozen_string_literal: true

class CategoriesController < ActionController::Base
  def index
    @categories = Category.order(:id)
  end

  def show
    @category = Category.find(params[:id])
  end

  def busy
    @category = Category.find(params[:id])
  end

  def tagged
    @category = Category.find(params[:id])
  end
end
