# frozen_string_literal: true

# What all models have in common.
class ApplicationRecord < ActiveRecord::Base
  primary_abstract_class
end
