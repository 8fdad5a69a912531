# frozen_string_literal: true

# Takes pictures of a report of the lab for docs/reference/performance.md: light, dark, on a telephone, its first chart,
# and as printed.
#
# Run as a program: ruby -rbundler/setup rakelib/house/pictures.rb REPORT.html DIRECTORY

require "fileutils"
require "json"
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
      [path("report-#{name}.png").tap { |to| browser.page.screenshot(path: to) },
       path("report-#{name}-whole.png").tap { |to| browser.page.screenshot(path: to, full: true) },
       chart(browser, name)].compact
    end

    def chart(browser, name)
      area = area(browser, "figure", name.start_with?("phone") ? 0 : MARGIN)
      area && path("chart-#{name}.png").tap { |to| browser.page.screenshot(path: to, area: area) }
    end

    # @return [Hash, nil] where the first such element is in the page, with a margin around it
    def area(browser, selector, margin)
      x, y, width, height = browser.evaluate(<<~JAVASCRIPT)
        (box => box && [box.x + scrollX, box.y + scrollY, box.width, box.height])(
          document.querySelector(#{JSON.generate(selector)})?.getBoundingClientRect())
      JAVASCRIPT
      x && { x: x - margin, y: y - margin, width: width + (2 * margin), height: height + (2 * margin) }
    end

    def print(browser)
      browser.visit(@page, media: "print")
      path("report.pdf").tap { |to| browser.page.pdf(path: to, prefer_css_page_size: true, print_background: true) }
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
