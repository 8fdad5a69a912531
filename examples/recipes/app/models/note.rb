# frozen_string_literal: true

# What a reader wants the cook to know.
class Note < ApplicationRecord
  LONGEST = 500

  belongs_to :recipe
  belongs_to :user

  validates :body, presence: { message: "is empty" }, length: { maximum: LONGEST }
end
