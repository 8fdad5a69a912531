# frozen_string_literal: true

# The codes of Larder's own bytes for objects. They are part of the format: a number is never given to another class.

module Larder
  module Tree
    TIME = 1
    TIME_WITH_ZONE = 2
    DATE = 3
    DATE_TIME = 4
    DECIMAL = 5
    RATIONAL = 6
    COMPLEX = 7
    INTEGER = 8
    RANGE = 9
    SET = 10 # ext/larder/tree.h knows it, too
    SAFE_BUFFER = 11
    INDIFFERENT_HASH = 12
    DURATION = 13
    STRUCT = 14
    DATA = 15
    RECORD = 16
    BINARY = 17
    URI = 18
    IP_ADDRESS = 19
    PATH = 20
    TIME_ZONE = 22
    TEXT = 23
    RECORDS = 24
    STRUCTS = 25
    KEPT = 26 # by a Cacheable::Mixture: the number of its group, and its own there
  end
end
