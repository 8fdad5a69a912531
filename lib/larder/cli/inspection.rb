# frozen_string_literal: true

# The parts of the inspection that commands use, by their names.

require_relative "../inspection"
require_relative "errors"

module Larder
  module CLI
    Brief = Inspection::Brief
    ItemText = Inspection::ItemText
    KeyText = Inspection::KeyText
    Keyspaces = Inspection::Keyspaces
    Order = Inspection::Order
    Pattern = Inspection::Pattern
    Rates = Inspection::Rates
    Selections = Inspection::Selections
    SizeAdvice = Inspection::SizeAdvice
    Statistics = Inspection::Statistics
    UsedKeyspaces = Inspection::UsedKeyspaces
    Values = Inspection::Values
    WatchedFile = Inspection::WatchedFile
    Words = Inspection::Words
  end
end
