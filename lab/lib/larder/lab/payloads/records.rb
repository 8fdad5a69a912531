# frozen_string_literal: true

module Larder
  module Lab
    module Payloads
      # The published lists: records {Id, PropertyA to D}, 50,000 of them or 50.
      class Records < Payload
        named "records", "50,000 records {Id, PropertyA..D}, as published"

        COUNT = 50_000
        # @!visibility private
        Record = ::Struct.new(:id, :property_a, :property_b, :property_c, :property_d)

        # @return [Array<Record>]
        def value
          @value ||= Array.new(@count || self.class::COUNT) do |i|
            Record.new(i, "PropertyA#{i}", "PropertyB#{i}", "PropertyC#{i}", "PropertyD#{i}")
          end
        end
      end

      # The short one.
      class FewRecords < Records
        named "records-50", "50 records {Id, PropertyA..D}, as published"

        COUNT = 50
      end
    end
  end
end
