# frozen_string_literal: true

# Takes pictures of a report of the lab, for the README and for eyes: light, dark, on a telephone, its first chart, and
# as it would be printed.
#
# Run as a program: ruby rakelib/house/pictures.rb REPORT.html DIRECTORY

require "fileutils"
require_relative "browser"

module House
  # Pictures of one page.
  class Pictures
    # name => how the page is looked at
    LOOKS = {
      "light" => { scheme: "light", width: 1280, height: 1000, density: 1.5 },
      "dark" => { scheme: "dark", width: 1280, height: 1000, density: 1.5 },
      "phone" => { scheme: "light", width: 360, height: 780, density: 2 },
      "phone-dark" => { scheme: "dark", width: 360, height: 780, density: 2 }
    }.freeze
    # CSS pixels around a chart.
    MARGIN = 24

    # @param page [String] path of an HTML file
    # @param directory [String] where the pictures go
    def initialize(page, directory)
      @page = page
      @directory = directory
    end

    # @return [Array<String>] paths of what was made
    def take
      FileUtils.mkdir_p(@directory)
      Browser.open do |browser|
        LOOKS.flat_map { |name, look| look(browser, name, look) } + [print(browser)]
      end
    end

    private

    def look(browser, name, look)
      browser.visit(@page, **look)
      [path("report-#{name}.png").tap { |to| browser.picture(to) },
       path("report-#{name}-whole.png").tap { |to| browser.picture(to, of: browser.place("html")) },
       chart(browser, name)].compact
    end

    def chart(browser, name)
      place = browser.place("figure", margin: name.start_with?("phone") ? 0 : MARGIN)
      place && path("chart-#{name}.png").tap { |to| browser.picture(to, of: place) }
    end

    def print(browser)
      browser.visit(@page)
      path("report.pdf").tap { |to| browser.print(to) }
    end

    def path(name)
      File.join(@directory, name)
    end
  end
end

if $PROGRAM_NAME == __FILE__
  abort "Usage: ruby rakelib/house/pictures.rb REPORT.html DIRECTORY" unless ARGV.size == 2

  begin
    puts House::Pictures.new(*ARGV).take
  rescue House::Browser::Error => error
    abort "pictures: #{error.message}"
  end
end
