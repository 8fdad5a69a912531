# frozen_string_literal: true

# Writes the tables of docs/reference/options.md from the store's table of options (lib/larder/store/options/table.rb).
#
# Run as a program: ruby rakelib/house/options_page.rb

require "set" # for Active Support before 7.2
require "active_support/cache/larder_store"
require_relative "environment"

module House
  # The page of options: its tables are generated, the text around them is written by hand.
  class OptionsPage
    PAGE = File.join(ROOT, "docs/reference/options.md")
    # Heading of the section => the places of its options.
    SECTIONS = {
      "The store" => %i[store], "The store and its calls" => %i[store call], "Calls" => %i[call]
    }.freeze
    HEAD = "| option | values | default | what it does |\n|---|---|---|---|\n"
    private_constant :SECTIONS, :HEAD

    # @param options [Enumerable] rows of the table of options
    def initialize(options = Larder::Store::Options::TABLE.values)
      @options = options.reject { |option| option.traits.include?(:internal) }
    end

    # @return [String] the page
    def read
      File.read(PAGE, encoding: "UTF-8")
    end

    # @return [String] the same with the tables as they have to be
    def text
      SECTIONS.reduce(read) do |page, (heading, places)|
        before, table, after = page.partition(/(?<=^## #{heading}\n).*?\n\n(?=## )/m)
        raise "#{PAGE} has no section #{heading.inspect}" if table.empty?

        "#{before}#{table.sub(/^\| option \|.*?\n(?=\n)/m) { table_of(places) }}#{after}"
      end
    end

    # Writes the page.
    def write
      File.write(PAGE, text)
    end

    private

    def table_of(places)
      HEAD + @options.select { |option| option.places == places }.map { |option| row(option) }.join
    end

    def row(option)
      "| #{["`#{option.name}:`", option.type.values, default(option), option.effect].join(" | ")} |\n".gsub("  ", " ")
    end

    def default(option)
      return option.default_text if option.default_text
      return option.default.to_s.gsub(/(?<=\d)(?=(?:\d{3})+\z)/, ",") if option.default.is_a?(Integer)

      option.default.is_a?(Symbol) ? "`#{option.default.inspect}`" : option.default.inspect
    end
  end
end

House::OptionsPage.new.write if $PROGRAM_NAME == __FILE__
