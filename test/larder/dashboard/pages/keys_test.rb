# frozen_string_literal: true

require "active_support/cache/larder_store"
require "support/dashboard_case"
require "support/dashboard_tables"
require "puma"
require "puma/server"

module Larder
  class Dashboard
    # The list of keys and the page of a key.
    class KeysTest < DashboardCase
      include DashboardTables

      KEYS = [HOSTILE, "\xff\x00\n\u202ebin".b, "back\\slash \\x41", "umlaut ä & ?=#%", "", "l/#{"ong" * 1300}"].freeze
      # Their texts, percent-encoded, are longer than Puma takes.
      LONG = ["é" * 2000, "\xFF" * Cache::MAX_KEY, "%" * Cache::MAX_KEY, "é#{"-" * 3000}#{"?" * 1000}"].map(&:b).freeze

      def keys_of(html)
        html.scan(%r{href="/larder/entry(?:\?(key|key64)=([^"]*))?"}).map do |name, query|
          text = Rack::Utils.unescape(CGI.unescapeHTML(query.to_s))
          name == "key64" ? text.tr("-_", "+/").unpack1("m") : Inspection::KeyText.bytes(text)
        end
      end

      # The address of a link or form of the page that was read last; Puma parses it.
      def address(page)
        found = CGI.unescapeHTML(last_response.body[%r{href="(/larder/#{page}[^"]*)"}, 1])
        ::Puma::HttpParser.new.execute({}, "GET #{found} HTTP/1.1\r\n\r\n", 0)
        assert_operator found.bytesize, :<, 8192 # of proxies
        found
      end

      test "keys of any bytes are escaped, and lead to their entries" do
        KEYS.each { |key| cache.set(key, HOSTILE) }
        use(values: true)
        html = page("keys")
        refute_includes html, "<script>alert"
        assert_equal KEYS.map(&:b).sort, keys_of(html).sort
        html.scan(%r{href="(/larder/entry[^"]*)"}).flatten.each do |path|
          get(CGI.unescapeHTML(path))
          assert_equal 200, last_response.status
          refute_includes last_response.body, "<script>alert"
          assert_includes text_of(last_response.body), "<script>alert(1)</script>"
        end
      end

      test "keys of any length are shown and deleted by addresses that servers take" do
        LONG.each do |key|
          cache.set(key, "1")
          assert_equal [key], keys_of(page("keys"))
          get(address("entry"))
          assert_includes text_of(last_response.body), Inspection::KeyText.shown(key)
          get(address("delete"))
          get(address("entry"))
          get(address("delete"))
          fields = last_response.body.scan(/<input type="hidden" name="(\w+)" value="([^"]*)"/).to_h
          post("/larder/delete", fields.transform_values { |text| CGI.unescapeHTML(text) },
               "HTTP_ORIGIN" => "http://example.org")
          assert_match(/The key was deleted/, last_response.body)
          assert_empty cache.each_key.to_a
        end
      end

      test "an entry that is gone has only links that servers take, and a wrong address is named" do
        LONG.each do |key|
          get("/larder/entry", KeyAddress.params(key))
          assert_equal 404, last_response.status
          refute_match(/pattern=/, last_response.body)
        end
        get("/larder/entry", key64: "a")
        assert_equal 422, last_response.status
        assert_match(/key64 is not base64url: a/, last_response.body)
        get("/larder/entry", key64: ["k" * (Cache::MAX_KEY + 1)].pack("m0"))
        assert_equal 422, last_response.status
        assert_match(/has 4096 bytes; keys have 4095 at most/, last_response.body)
      end

      test "a pattern that is too long for a key, or for the address of a page, is refused in words" do
        get("/larder/keys", pattern: "a" * 5000)
        assert_equal 422, last_response.status
        assert_match(/The pattern has 5,000 characters; it may have 1,000 at most\. The beginning of the key finds it/,
                     last_response.body)
        page("keys", pattern: "é" * 1000)
        input = last_response.body[/<input[^>]*id="pattern"[^>]*>/]
        assert_match(/pattern="\.\{0,1000\}" title="1,000 characters at most"/, input)
        assert_no_match(/maxlength/, input) # a browser would cut off the rest without a word
        assert_operator URI.encode_www_form(pattern: "語" * 1000).bytesize, :<, 10 * 1024
        get("/larder/clear", by: "prefix", text: "a" * 4096)
        assert_equal 422, last_response.status
        assert_match(/keys have 4095 bytes at most, and the pattern begins with 4096/, last_response.body)
      end

      test "a pattern, a keyspace and an order choose keys" do
        @cache = open_cache("counted.larder", statistics: true)
        use(cache: path_of("counted.larder"))
        3.times { |i| cache.set("users/#{i}", "v" * (i + 1)) || cache.get("users/#{i}") }
        cache.set("rates/EUR", "1")
        cache.keep_statistics
        assert_equal ["rates/EUR"], keys_of(page("keys", pattern: "rates/"))
        assert_equal ["users/2"], keys_of(page("keys", pattern: "*2"))
        assert_equal %w[users/2 users/1 users/0], keys_of(page("keys", keyspace: "users", sort: "size"))
        assert_match(/<option value="users" selected>/, last_response.body)
        get("/larder/keys?sort=colour")
        assert_equal 422, last_response.status
        assert_match(/cannot sort by colour; known: size/, last_response.body)
      end

      test "a search without result leads to the keys of the store's namespace, and to those that contain the text" do
        store = ActiveSupport::Cache::LarderStore.new(path_of, namespace: "shop")
        store.write("products/1", "a")
        store.write("products/2", "b", namespace: "other")
        use(cache: store)
        ["products/*", "products/"].each do |pattern|
          page("keys", pattern: pattern)
          assert_match(/There is no such key\. .*shop:#{Regexp.escape(pattern)} which begins with .* namespace/, main)
          follow("shop:#{pattern}")
          assert_equal ["shop:products/1"], keys_of(last_response.body)
          page("keys", pattern: pattern)
          follow("*products/*")
          assert_equal ["other:products/2", "shop:products/1"], keys_of(last_response.body).sort
        end
        { "shop:absent" => ["*shop:absent*"], "*absent*" => [], "products?1" => ["shop:products?1", "*products?1"] }
          .each do |pattern, links|
          page("keys", pattern: pattern)
          assert_equal links, document.css("main li a").map(&:text)
        end
      end

      test "without a known namespace a search without result leads to the keys that contain the text" do
        cache.set("shop:a", "1")
        [path_of, ActiveSupport::Cache::LarderStore.new(path_of, namespace: -> { "shop" })].each do |given|
          use(cache: given)
          page("keys", pattern: "a")
          assert_equal ["*a*"], document.css("main li a").map(&:text)
          follow("*a*")
          assert_equal ["shop:a"], keys_of(last_response.body)
        end
      end

      test "a long list is continued until all keys were shown" do
        all = Array.new(120) { |i| "k#{i}".tap { |key| cache.set(key, "v") } }
        html = page("keys", pattern: "k")
        found = keys_of(html)
        assert_equal 50, found.size
        assert_match(/Searched about 5\d of 120 keys\./, text_of(html))
        while (path = html[/href="([^"]*)">Continue the search/, 1])
          get(CGI.unescapeHTML(path))
          html = last_response.body
          found.concat(keys_of(html))
        end
        assert_equal all.sort, found.sort
        assert_match(/Searched 120 of 120 keys\./, text_of(html))
      end

      test "an entry has what larder get shows, and no value unless that is wanted" do
        cache.set("k", "secret value", ttl: 3600, tags: %w[a b])
        text = text_of(page("entry", key: "k"))
        assert_match(/size 12 bytes expires in 1 hour|size 12 bytes expires in 59 minutes/, text)
        assert_match(/tags 2 encoding bytes of text/, text)
        assert_match(/Values are hidden.*values: true/, text)
        refute_match(/secret/, text)
        use(values: true)
        assert_match(/"secret value"/, text_of(page("entry", key: "k")))
      end

      test "a value is shown without running its code" do
        cache.set("m", "\x04\bU:\x15Dangerous::Thing[\x06i\x06")
        use(values: true)
        assert_match(/Dangerous::Thing/, text_of(page("entry", key: "m")))
      end

      test "a key that is absent is a 404 with a way to look for it" do
        get("/larder/entry?key=gone")
        assert_equal 404, last_response.status
        assert_match(/href="[^"]*keys\?pattern=\*gone\*"/, last_response.body)
      end

      test "nothing counts as a read of the application" do
        cache.set("k", "v")
        before = cache.stats
        page("keys", sort: "reads")
        page("entry", key: "k")
        page("delete", key: "k")
        assert_equal before.slice(:hits, :misses), cache.stats.slice(:hits, :misses)
        assert_equal 0, cache.item("k").reads
      end
    end
  end
end
