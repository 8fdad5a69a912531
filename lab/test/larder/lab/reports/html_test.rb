# frozen_string_literal: true

require "test_helper"
require "support/simulated_runs"

module Larder
  module Lab
    module Reports
      class HtmlTest < ActiveSupport::TestCase
        test "a page is well-formed XML" do
          assert_empty malformed(page(SampleDocument.build))
        end

        test "text is escaped wherever it comes from" do
          html = page(hostile("<script>alert(1)</script>&\"'\u0000"))
          refute_includes html, "<script"
          assert_operator html.scan("&lt;script&gt;alert(1)&lt;/script&gt;&amp;").size, :>=, 18
          assert_empty malformed(html)
        end

        test "a page asks for nothing" do
          html = page(SampleDocument.build)
          refute_match(/<script|<link|<img|@import|url\(/, html)
          assert_equal ["http://www.w3.org/1999/xhtml"], html.scan(%r{\w+://[^"]+}).uniq.sort
          assert_includes html, "default-src 'none'"
        end

        test "a drawing stands next to its figures, and lines have theirs below" do
          html = page(SampleDocument.build)
          assert_match(%r{<th scope="row">file</th><td class="plot" aria-hidden="true"><svg.+?</svg></td><td [^>]+>32},
                       html)
          assert_includes html, "<td class=\"rest\" colspan=\"3\">dragonfly is not on the PATH"
          assert_match(/<svg[^>]+ role="img" aria-label="Time of a read" aria-describedby="chapter-1-1-3"/, html)
          assert_match(%r{<p id="chapter-1-1-3">Larder’s p99.9 is 3.8.µs.</p>.+<details>.+<table.+</details>}m, html)
        end

        test "no two elements have the same id, and every link leads to one" do
          html = page(SampleDocument.build(chapters: 3))
          ids = html.scan(/ id="([^"]+)"/).flatten
          assert_equal ids.uniq, ids
          assert_empty html.scan(/href="#([^"]+)"/).flatten - ids
          assert_empty html.scan(/aria-(?:labelled|described)by="([^"]+)"/).flatten.flat_map(&:split) - ids
        end

        test "the head says what was run, when and where, and the findings come before the sections" do
          html = page(SampleDocument.build)
          words = ["larder-lab stores", "2026-03-04 12:30 UTC", "2 cores", "12 min 34 s", "Findings</h2>",
                   "Warnings</h2>", "Hits</h2>", "Where it was measured</h2>", "How to read it</h2>"]
          places = words.map { |each| html.index(each) || flunk("#{each} is missing") }
          assert_equal places.sort, places
        end

        test "a page with an answer begins with it, and has its warnings once" do
          html = page(SimulatedRuns.overview(load: 9.0, turn: 0.05))
          assert_empty malformed(html)
          front = html[0, html.index("id=\"findings\"")]
          words = [Document::QUESTION, "One server</h2>", "Several servers</h2>", "Sessions</h2>", "class=\"plotted\"",
                   "Other work was", "<code>larder-lab overview --quick --seed 7</code>", "Contents</h2>",
                   "Caches in Rails applications</a>"]
          places = words.map { |each| front.rindex(each) || flunk("#{each} is missing") }
          assert_equal places.sort, places
          assert_match(%r{<strong>[\d.]+ <span class="whole">\([\d.–]+\)</span> times as long</strong>}, html)
          assert_equal 2, html.scan("Other work was running").size # one for each chapter
          assert_match(%r{<details id="\S+" class="fold"><summary>Page of ten fragments</summary>}, html)
        end

        test "of several chapters the contents have the first finding and the number of warnings" do
          assert_match(%r{number 2</a> <small>failed, 1 warning</small> <span>Larder’s hit takes 1\.10},
                       page(SampleDocument.build(chapters: 2)))
        end

        test "a chapter that failed says so" do
          failed = page(SampleDocument.build(chapters: 2))
          assert_includes failed, "This run failed"
          assert_includes failed, "<li>file, read of a fragment: a wrong value</li>"
          refute_includes page(SampleDocument.build), "This run failed"
        end

        test "a document without anything in it is a page" do
          empty = Document.new(command: "all", chapters: [], environment: {}, elapsed: 0.0)
          assert_empty malformed(page(empty))
          bare = Document::Chapter.new(key: "stores", title: "Stores")
          assert_empty malformed(page(Document.new(command: "stores", chapters: [bare], environment: {}, elapsed: 0.0)))
        end

        private

        def page(document) = Html.new(document).to_s

        # REXML comes with Ruby, but not with this bundle.
        def malformed(html)
          program = "require \"rexml/document\"; REXML::Document.new($stdin.read)"
          errors, status = Bundler.with_unbundled_env do
            Open3.capture2e(RbConfig.ruby, "-e", program, stdin_data: html)
          end
          skip "REXML is not installed with this Ruby" if errors.include?("rexml/document (LoadError)")
          status.success? ? "" : errors
        end

        def hostile(text)
          d = Document
          table = d::Table.new(caption: text, columns: [{ title: text }, { title: text, plot: "log" }],
                                 rows: [[text, { "value" => 1 }], [text, text], [text]], notes: [text])
          lines = d::Curves.new(title: text, sentence: text, x: { title: text }, y: { title: text },
                                  series: [{ "label" => text, "points" => [[1, 2]] }])
          blocks = [lines, table, d::Prose.new(text: text), d::Code.new(text: text, language: text)]
          chapter = d::Chapter.new(key: text, title: text, lead: text, facts: [text], conclusions: [text],
                                   warnings: [text], answer: { "sentences" => [{ "about" => text, "text" => text }] },
                                   sections: [d::Section.new(title: text, blocks: blocks)])
          d.new(command: text, chapters: [chapter], elapsed: 1,
                environment: { "cpu" => text, "time" => text, text => text })
        end
      end
    end
  end
end
