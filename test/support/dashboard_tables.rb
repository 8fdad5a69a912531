# frozen_string_literal: true

# Reads pages of the dashboard as their readers do: tables by their captions, forms by their buttons.

require "nokogiri"

# For a DashboardCase.
module DashboardTables
  # @return [Nokogiri::HTML5::Document] the page that was read last
  def document
    Nokogiri::HTML5(last_response.body)
  end

  # @return [String] the text of the last page, without its frame
  def main
    text_of(document.at_css("main").to_html)
  end

  # @param caption [String] of a table
  # @return [Array<Array<String>>] its rows
  def rows_of(caption)
    table = document.css("table").find { |one| one.at_css("caption").text == caption }
    flunk("no table #{caption.inspect}: #{document.css("caption").map(&:text)}") unless table
    table.css("tbody tr").map { |row| row.css("th, td").map { |cell| cell.text.strip } }
  end

  # @return [Array<String>] labels of the navigation
  def navigation
    document.css(".top nav a").map(&:text)
  end

  # Follows a link of the last page.
  #
  # @param text [String] of the link
  def follow(text)
    link = document.css("main a").find { |one| one.text == text }
    flunk("no link #{text.inspect}: #{document.css("main a").map(&:text)}") unless link
    get(link["href"])
    assert_equal 200, last_response.status, last_response.body
  end

  # Sends a form of the last page, as a browser does.
  #
  # @param button [String] its text
  def press(button)
    form = document.css("form").find { |one| one.css("button").any? { |found| found.text == button } }
    flunk("no form has the button #{button.inspect}") unless form
    fields = form.css("input[name]").to_h { |input| [input["name"], input["value"].to_s] }
    post(form["action"], fields, { "HTTP_ORIGIN" => "http://example.org" })
  end
end
