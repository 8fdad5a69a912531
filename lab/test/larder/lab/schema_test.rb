# frozen_string_literal: true

require "test_helper"
require "support/report_schema"

module Larder
  module Lab
    class SchemaTest < ActiveSupport::TestCase
      test "a document with every kind of block has the published shape" do
        assert_empty ReportSchema.errors(plain(SampleDocument.build.to_h))
      end

      test "the file is that of the version that is written" do
        assert_equal "larder-lab-#{Document::SCHEMA[:version]}.json", File.basename(ReportSchema::FILE)
      end

      test "what has another shape is found" do
        broken = plain(SampleDocument.build.to_h)
        broken["chapters"][0]["measures"][0]["samples"] = ["much"]
        refute_empty ReportSchema.errors(broken)
        assert_includes ReportSchema.errors({}).join, "missing required properties"
      end

      private

      def plain(hash)
        JSON.parse(JSON.generate(hash))
      end
    end
  end
end
