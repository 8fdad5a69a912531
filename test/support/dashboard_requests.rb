# frozen_string_literal: true

# Requests of a dashboard, as a browser sends them, checked by Rack::Lint.

require "test_helper"
require "larder/dashboard"
require "nokogiri"
require "rack/lint"
require "rack/mock_request"

# A test case with `get` and `send_form`, and with what the last answer shows.
module DashboardRequests
  ROOT = "/larder"

  # @return [Larder::Dashboard] the one of the test
  attr_accessor :dashboard

  # @param page [String] below the dashboard
  # @param params [Hash]
  # @return [Nokogiri::HTML5::Document]
  def get(page = "", params = {})
    answered(request(page, params: params))
  end

  # Sends a form of the last page, with its token.
  #
  # @param button [String] its text
  # @return [Nokogiri::HTML5::Document]
  def send_form(button)
    form = @shown.css("form").find { |one| one.css("button").any? { |found| found.text == button } }
    flunk("no form has the button #{button.inspect}: #{@shown.css("button").map(&:text)}") unless form
    fields = form.css("input[name]").to_h { |input| [input["name"], input["value"].to_s] }
    action = form["action"].delete_prefix("#{ROOT}/")
    answered(request(action, method: (form["method"] || "get").upcase, params: fields))
  end

  # @return [Rack::MockResponse] of a request that need not come from a page
  def request(page, method: "GET", params: {}, **env)
    env["HTTP_COOKIE"] = @cookie if @cookie
    app = Rack::Lint.new(Rack::URLMap.new(ROOT => Rack::Lint.new(dashboard)))
    @answer = Rack::MockRequest.new(app).request(method, "#{ROOT}/#{page}", params: params, **env)
    cookie = @answer["set-cookie"]
    @cookie = cookie.split(";").first if cookie
    @answer
  end

  # @return [Rack::MockResponse]
  attr_reader :answer

  # @return [String] of the last page, without runs of white space
  def text
    @shown.at_css("main").text.gsub(/\s+/, " ")
  end

  # @param caption [String] of a table
  # @return [Array<Array<String>>] its rows
  def rows_of(caption)
    table = @shown.css("table").find { |one| one.at_css("caption").text == caption }
    flunk("no table #{caption.inspect}: #{@shown.css("caption").map(&:text)}") unless table
    table.css("tbody tr").map { |row| row.css("th, td").map(&:text) }
  end

  # @return [Array<String>] labels of the navigation
  def navigation
    @shown.css(".top nav a").map(&:text)
  end

  private

  def answered(answer)
    assert_includes 200..499, answer.status, answer.body
    assert_no_match(/<script(?! defer src=| src=)/, answer.body)
    @shown = Nokogiri::HTML5(answer.body)
  end
end
