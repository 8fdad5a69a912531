# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    class DocumentTest < ActiveSupport::TestCase
      setup { @document = JSON.parse(JSON.generate(SampleDocument.build.to_h)) }

      test "a document with every kind of block has the published shape of its version, and others are found" do
        assert_empty ReportSchema.errors(@document)
        @document["chapters"][0]["measures"][0]["samples"] = ["much"]
        refute_empty ReportSchema.errors(@document)
        assert_includes ReportSchema.errors({}).join, "missing required properties"
        assert_equal "larder-lab-#{Document::SCHEMA[:version]}.json", File.basename(ReportSchema::FILE)
      end

      test "what is no document, or of another version, is refused by name" do
        with_directory do |dir|
          damaged = [["chapters", 0], ["chapters", 0, "sections"], ["chapters", 0, "sections", 0, "blocks", 0, "rows"],
                     ["chapters", 0, "sections", 0, "blocks", 1, "kind"],
                     ["chapters", 0, "sections", 0, "blocks", 2, "series"]].map do |*parents, name|
            JSON.generate(JSON.parse(JSON.generate(@document)).tap { |document| document.dig(*parents)[name] = 1 })
          end
          { **["not JSON", "[1]", "{}", *damaged].to_h { |text| [text, /not a report of larder-lab/] },
            '{"schema":{"name":"larder-lab","version":99}}' => /larder-lab 99 is not read .* reads larder-lab 1/ }
            .each do |text, message|
            file = File.join(dir, "a.json")
            File.write(file, text)
            error = assert_raises(UsageError) { Document.load(file) }
            assert_match message, error.message
            assert error.message.start_with?(file)
          end
          error = assert_raises(UsageError) { Document.load(File.join(dir, "none.json")) }
          assert_match(/none.json: No such file/, error.message)
        end
      end

      test "a field of a block that is not known is passed over, because the schema allows more" do
        @document["chapters"][0]["sections"][0]["blocks"].each { |block| block["new"] = 1 }
        assert_equal JSON.generate(SampleDocument.build.to_h), JSON.generate(Document.from_h(@document).to_h)
      end

      test "a chart has its figures as a table" do
        table = SampleDocument.curves.data
        assert_equal [13, 13], [table.rows.size, table.columns.size]
        assert_empty table.rows.reject { |row| row.size == table.columns.size }
      end
    end
  end
end
