# frozen_string_literal: true

require "support/dashboard_browser"
require "support/axe"

module Larder
  class Dashboard
    # Every page, in both schemes and on wide and narrow screens, under the rules of axe-core.
    class AccessibilityTest < DashboardCase
      include DashboardBrowser

      setup { skip Axe.missing if Axe.missing }

      test "the rules find a page that breaks them" do
        visit
        @browser.evaluate("document.querySelector('.brand').textContent = document.title = ''")
        @browser.evaluate("document.querySelector('h1').style.color = '#ddd'")
        assert_equal %w[color-contrast document-title link-name],
                     Axe.run(@browser)["violations"].map { |text| text[/[\w-]+/] }.sort
      end

      test "no page breaks a rule, in either scheme, wide or narrow" do
        serve_all do
          every_page.product([1280, 390], %w[light dark]).each do |path, width, scheme|
            visit(path, width: width, scheme: scheme)
            @browser.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
            report = Axe.run(@browser)
            assert_operator report["passed"], :>, 15, path
            assert_empty report["violations"], "#{path} #{width} #{scheme}"
          end
        end
      end

      test "no page that says why there is nothing breaks a rule" do
        File.write(path_of("foreign"), "not a cache" * 1000)
        [path_of("absent"), path_of("foreign")].product(%w[light dark]).each do |file, scheme|
          serve(cache: file)
          @browser.visit(@address, scheme: scheme)
          assert_empty Axe.run(@browser)["violations"], "#{file} #{scheme}"
        end
      end
    end
  end
end
