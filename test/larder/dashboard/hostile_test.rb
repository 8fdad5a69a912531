# frozen_string_literal: true

require "active_support/cache/larder_store"
require "support/dashboard_case"
require "support/dashboard_tables"

module Larder
  class Dashboard
    # Every link of every page, where keys, namespaces, tags and values have any bytes.
    class HostileTest < DashboardCase
      include DashboardTables

      KEYS = [HOSTILE, "a\x00b\x01\e[31m\r\n", "\u202eevil\u2066\u200b", "\xff\xfe\xc3".b, "x" * 4000, "\xff".b * 4095,
              "../../etc/passwd", "a?b=c&d#e%00+ ", "\\x41\\\\", "*?*", "javascript:alert(1)", " lead", "\n",
              "</title></textarea></select><svg onload=alert(1)>"].freeze
      VALUES = [HOSTILE, "\xff\x00".b, 1, nil, [{ a: HOSTILE }], "x" * 100_000, { "k" => "\u202e" }, Time.at(0), :sym,
                2**80, Object].freeze
      # Control bytes, and characters that change the direction of the text after them or are not seen.
      UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u200b\u202a-\u202e\u2066-\u2069]/
      MARKUP = /<script>|<svg onload|<img src=x/
      private_constant :KEYS, :VALUES, :UNSEEN, :MARKUP

      [nil, "<b>", "n\x00\u202e", "'\"><img src=x onerror=alert(1)>"].each do |namespace|
        test "no page is broken by keys, values and tags in the namespace #{namespace.inspect}" do
          use(cache: fill(namespace), values: true)
          seen = crawl(Pages::TABLE.map { |row| "/larder/#{row.path}" })
          %w[entry delete].each { |name| assert_operator seen.grep(/#{name}/).size, :>=, KEYS.size }
        end
      end

      test "the question and the answer of a deletion show the bytes, and delete this key alone" do
        KEYS.each { |key| cache.set(key, "v") }
        left = KEYS.map(&:b)
        KEYS.each do |key|
          page("delete", key: Inspection::KeyText.shown(key))
          assert_sound("delete #{key[0, 40].inspect}")
          press("Delete")
          assert_sound("deleted #{key[0, 40].inspect}")
          left.delete(key.b)
          assert_equal left.sort, cache.each_key.to_a.sort
        end
      end

      test "the question before a part is deleted shows its bytes" do
        KEYS.product(%w[prefix namespace tag keyspace]).each do |key, by|
          get("/larder/clear", { by: by, text: Inspection::KeyText.shown(key) })
          assert_operator last_response.status, :<, 500
          assert_sound("#{by} #{key[0, 40].inspect}")
        end
      end

      test "a part whose name begins or ends with white space is not another part" do
        cache.set_multi({ " lead/1" => "v", "lead/1" => "v", "user /1" => "v", "user/1" => "v" })
        [" lead", "user "].each do |text|
          page("clear", by: "prefix", text: text)
          press("Delete")
        end
        assert_equal %w[lead/1 user/1], cache.each_key.sort
      end

      private

      def fill(namespace)
        store = ActiveSupport::Cache::LarderStore.new(path_of, namespace: namespace, statistics: true)
        KEYS.each_with_index do |key, number|
          store.write(key, VALUES[number % VALUES.size], tags: ["<t>", "t\u202e"])
          store.cache.set(key, "\x04\bgarbage")
        end
        store
      end

      # Follows all links.
      #
      # @return [Array<String>] paths of the pages
      def crawl(paths)
        seen = []
        until paths.empty?
          path = paths.shift
          next if seen.include?(path)

          seen << path
          get(path)
          assert_operator last_response.status, :<, 500, path
          next unless last_response.content_type.include?("html")

          assert_sound(path)
          paths.concat(document.css("a").map { |link| link["href"] }.grep(%r{\A/}))
        end
        seen
      end

      def assert_sound(path)
        body = last_response.body.dup.force_encoding(Encoding::UTF_8)
        assert_predicate body, :valid_encoding?, path
        refute_match(MARKUP, body, path)
        refute_match(UNSEEN, body, path)
        assert_empty Nokogiri::HTML5(body, max_errors: 5).errors.map(&:to_s), path
      end
    end
  end
end
