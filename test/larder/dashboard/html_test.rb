# frozen_string_literal: true

require "support/dashboard_case"

module Larder
  class Dashboard
    # HTML that escapes everything.
    class HtmlTest < ActiveSupport::TestCase
      test "texts and attributes are escaped" do
        html = Html.new
        html.p("<b>&\"'", class: ["a", "\"><script>"], data: { name: "<" }, hidden: true, title: nil, lang: false)
        assert_equal "<p class=\"a &quot;&gt;&lt;script&gt;\" data-name=\"&lt;\" hidden>&lt;b&gt;&amp;&quot;&#39;</p>",
                     html.to_s
      end

      test "elements are nested by blocks, and some have no content" do
        html = Html.new
        html.ul { 2.times { |i| html.li(i) } }.br
        assert_equal "<ul><li>0</li><li>1</li></ul><br>", html.to_s
      end

      test "bytes that are not UTF-8 become replacement characters" do
        html = Html.new.text("\xff<".b).to_s
        assert_equal "�&lt;", html
        assert_predicate html, :valid_encoding?
      end

      test "styles and scripts of elements, and paths that lead out of the application are refused" do
        { { style: "color: red" } => /style/, { onclick: "x()" } => /onclick/, { ONLOAD: "x" } => /ONLOAD/,
          { "a b": "x" } => /a b/, { href: "javascript:alert(1)" } => /href leads out/,
          { href: "//evil.example" } => /leads out/, { action: "https://evil.example" } => /leads out/,
          { src: "data:x" } => /leads out/ }.each do |attributes, message|
          assert_match message, assert_raises(::ArgumentError) { Html.new.a("x", **attributes) }.message
        end
      end

      test "there is no method that writes a text as it is" do
        assert_empty Html.public_instance_methods(false) & %i[raw << html_safe concat]
      end
    end
  end
end
