# frozen_string_literal: true

class Product < ActiveRecord::Base
  belongs_to :category, touch: true
end
