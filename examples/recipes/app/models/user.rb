# frozen_string_literal: true

# Somebody who may sign in.
class User < ApplicationRecord
  has_many :notes

  # @param name [String]
  # @param password [String]
  # @return [User, nil] nil: no such name, or another password, which takes equally long to find out
  def self.authenticate(name, password)
    user = find_by(name: name)
    user if Recipes::Password.correct?(password, user&.password_digest)
  end
end
