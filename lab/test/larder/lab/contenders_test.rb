# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    class ContendersTest < ActiveSupport::TestCase
      test "every contender has a title, and every server of a contender is known" do
        Contenders.names.each { |name| assert_predicate Contenders.fetch(name).title, :present?, name }
        Contenders.names.filter_map { |name| Contenders.fetch(name).server }.each { |server| Servers.fetch(server) }
      end
    end
  end
end
