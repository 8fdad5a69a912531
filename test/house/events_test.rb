# frozen_string_literal: true

require "test_helper"
require "active_support/cache"

module House
  # The page of events has those that the sources send, with their payloads.
  class EventsTest < ActiveSupport::TestCase
    ROOT = File.expand_path("../..", __dir__)
    PAGE = File.read(File.join(ROOT, "docs/reference/events.md"), encoding: "UTF-8")
    ROWS = PAGE.scan(/^\| `([\w.]+)` \|.*\| ([^|]*)\|$/).to_h
    SENT = /\bannounce\("([\w.]+)", @?call((?:, \w+: [^,)]+)*)\)/
    # Parts of the payloads of Rails' own events.
    RAILS = %w[hits super_operation].freeze
    # Events of Rails' stores.
    INSTRUMENTED = /\binstrument(?:_multi)?[ (]:(\w+\??)/

    test "the page has each event of Larder's own, and no other" do
      assert_equal sent.keys.sort, ROWS.keys.grep(/\.larder\z/).sort
      assert_operator sent.size, :>=, 5
    end

    test "the page has what the sources put into the payload of each" do
      sent.each do |event, keys|
        keys.each { |key| assert_includes ROWS.fetch(event), "`:#{key}`", event }
      end
      assert_equal %w[hit], payload_keys.uniq
      assert_includes ROWS.fetch("wait.larder"), "`:hit`"
    end

    test "the page has each event that other stores of Rails do not send" do
      more = operations(ruby("lib")) - operations(ruby(rails, "lib/active_support/cache*"))
      assert_equal more.map { |operation| "cache_#{operation}.active_support" }.sort,
                   ROWS.keys.grep(/\.active_support\z/).sort
    end

    private

    # @return [Hash{String=>Array<String>}] what is added to the payload, by event
    def sent
      text = ruby("lib").join
      all = text.scan(/\bannounce\("([\w.]+)"/).flatten.uniq
      known = text.scan(SENT).group_by(&:first)
      all.to_h { |event| [event, known.fetch(event, []).flat_map { |_, more| more.scan(/(\w+):/).flatten }.uniq] }
    end

    def payload_keys
      Dir[File.join(ROOT, "lib/larder/store/**/*.rb")].flat_map do |file|
        text = File.read(file)
        text.include?("announce(") ? text.scan(/\bpayload\[:(\w+)\]/).flatten - RAILS : []
      end
    end

    def operations(sources)
      sources.flat_map { |text| text.scan(INSTRUMENTED).flatten }.uniq
    end

    def ruby(directory, pattern = ".")
      Dir[File.join(File.expand_path(directory, ROOT), pattern, "**/*.rb")].map { |file| File.read(file) } +
        Dir[File.join(File.expand_path(directory, ROOT), "#{pattern}.rb")].map { |file| File.read(file) }
    end

    def rails
      Gem.loaded_specs.fetch("activesupport").full_gem_path
    end
  end
end
