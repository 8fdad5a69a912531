# frozen_string_literal: true

# In place of a gem that keeps expectations as methods of all objects for Minitest 6: Minitest 5 has them.

require "minitest/autorun"
