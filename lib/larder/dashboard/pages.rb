# frozen_string_literal: true

# The table of pages. A page is a class in pages/ and a row here.

require_relative "page"

module Larder
  class Dashboard
    # The pages by their paths.
    # @api private
    module Pages
      # `path` below the dashboard; `label` in the navigation, nil: it is not there; `file` in pages/, whose class is
      # named like it.
      Row = Struct.new(:path, :label, :file) do
        # @return [Class] a Page
        def page
          @page ||= Pages.const_get(file.split("_").map(&:capitalize).join)
        end
      end

      # In the order of the navigation.
      TABLE = [
        Row.new("", "Overview", "overview"),
        Row.new("keys", "Keys", "keys"),
        Row.new("entry", nil, "entry"),
        Row.new("delete", nil, "delete"),
        Row.new("computations", "Computations", "computations"),
        Row.new("machines", "Machines", "machines"),
        Row.new("sessions", "Sessions", "sessions"),
        Row.new("sessions/user", nil, "user_sessions"),
        Row.new("sessions/end", nil, "sign_out"),
        Row.new("clear", "Clear", "clear")
      ].freeze
      TABLE.each { |row| require_relative "pages/#{row.file}" }

      # @param path [String]
      # @return [Row, nil]
      def self.at(path)
        TABLE.find { |row| row.path == path }
      end
    end
  end
end
