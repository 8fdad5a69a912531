# frozen_string_literal: true

require "test_helper"
require_relative "../../../proof/foreign/pair"
require_relative "../../../proof/foreign/visits"
require_relative "../../../proof/foreign/applications/lobsters_visits"

module Foreign
  class VisitsTest < ActiveSupport::TestCase
    # Asks for one page in each step, and records the steps and the waits.
    class Recorded < Visits
      STEPS = { page: 1 }.freeze

      attr_reader :done

      def sign_in
        @done = [:sign_in]
      end

      def page
        @done << :page
      end

      private

      def sleep(seconds)
        @done << seconds
      end
    end

    test "a user waits after each step, while others may go on" do
      assert_equal [:sign_in, :page, 2.5, :page, 2.5], browse(pause: 2.5, steps: 2)
    end

    test "a user does not wait unless it is asked for" do
      assert_equal [:sign_in, :page, 0, :page, 0], browse(steps: 2)
    end

    test "a reader of Lobsters comments on stories that have a form for it" do
      { "<p>deleted</p>" => ["GET"], '<input name="story_id">' => %w[GET POST GET] }.each do |body, requests|
        asked = []
        visits = reader(Array.new(2) { answering(body, asked) })
        visits.instance_variable_set(:@stories, ["/s/abcdef"])
        visits.comment
        assert_equal requests, asked.each_slice(2).map(&:first)
      end
    end

    test "a reader of Lobsters who comes late finds stories behind those that readers have submitted" do
      pages = { "/newest/page/9" => '<a href="/s/abcdef/old">', "/newest/page/10" => '<a href="/s/ghijkl/older">' }
      browser = Object.new
      browser.define_singleton_method(:get) do |path|
        Page.new(status: 200, body: pages.fetch(path, '<a href="/s/zzzzzz/new_one">'))
      end
      assert_equal %w[/s/abcdef /s/ghijkl], reader([browser] * 2).send(:look_around)
      pages.clear
      error = assert_raises(RuntimeError) { reader([browser] * 2).send(:look_around) }
      assert_match(/no story on the first \d+ pages/, error.message)
    end

    private

    def reader(browsers)
      LobstersVisits.new(Pair.new(browsers, turns: Turns.new, changes: Mutex.new, findings: Findings.new,
                                            random: Random.new(1)), 1)
    end

    def answering(body, asked)
      page = Page.new(status: 200, body: body)
      Object.new.tap do |browser|
        browser.define_singleton_method(:get) { |_path| asked.push("GET") && page }
        browser.define_singleton_method(:post) { |_path, _form| asked.push("POST") && page }
      end
    end

    def browse(steps:, **options)
      pair = Pair.new([], turns: Turns.new, changes: Mutex.new, findings: Findings.new, random: Random.new(1))
      visits = Recorded.new(pair, 1, **options)
      visits.browse { (steps -= 1) >= 0 }
      visits.done
    end
  end
end
