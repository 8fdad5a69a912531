# frozen_string_literal: true

# Shows that it was made by Marshal.
class MarshalBomb
  class << self
    attr_accessor :exploded
  end

  def marshal_dump = []

  def marshal_load(_) = MarshalBomb.exploded = true
end
