# frozen_string_literal: true

# Boots the application, with a database that is there and filled.

require_relative "application"
require_relative "../lib/recipes/database"

Rails.application.initialize!
Recipes::Database.prepare
