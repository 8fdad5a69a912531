# frozen_string_literal: true

require "support/store_case"

module LarderStoreTests
  # delete_matched by Regexp and by glob.
  class DeleteMatchedTest < StoreCase
    def left(cache = store)
      cache.cache.each_key.map { |key| key.dup.force_encoding("UTF-8") }.sort
    end

    def write_keys(*keys, cache: store)
      keys.each { |key| cache.write(key, key) }
    end

    test "a Regexp is searched in the key" do
      write_keys "foo", "foo/bar", "fu", "fu/baz"
      assert_equal 2, store.delete_matched(/oo/)
      assert_equal %w[fu fu/baz], left
    end

    test "a Regexp keeps its anchors and options" do
      write_keys "foo", "FOO", "a foo"
      store.delete_matched(/\Afoo\z/i)
      assert_equal ["a foo"], left
    end

    test "in a namespace a Regexp is searched behind it" do
      cache = new_store(namespace: "n.1")
      write_keys "foo", "bar", cache: cache
      write_keys "foo", "nx1:foo", "x\nn.1:foo"
      cache.delete_matched(/^foo/)
      assert_equal ["foo", "n.1:bar", "nx1:foo", "x\nn.1:foo"], left
      cache.delete_matched(/ar$/)
      assert_equal ["foo", "nx1:foo", "x\nn.1:foo"], left
    end

    test "a namespace may be given" do
      write_keys "foo", "n:foo", "n:bar"
      store.delete_matched(/foo/, namespace: "n")
      assert_equal %w[foo n:bar], left
      store.delete_matched("*", namespace: -> { "n" })
      assert_equal %w[foo], left
    end

    {
      "h?llo"         => [["hello", "hallo", "h/llo"], ["hllo", "heello", "hell"]],
      "h*llo"         => [["hllo", "heeello", "h/x/llo"], ["hello!", "ahllo"]],
      "h[ae]llo"      => [["hello", "hallo"], ["hillo", "haello"]],
      "h[^e]llo"      => [["hallo", "hbllo"], ["hello", "hllo"]],
      "h[a-b]llo"     => [["hallo", "hbllo"], ["hcllo", "h-llo"]],
      "h[!e]llo"      => [["hallo", "h!llo"], ["hello", "hllo"]],
      "h[]llo"        => [[], ["h[]llo", "hllo"]],
      "a\\*c"         => [["a*c"], ["abc", "a\\*c"]],
      "a[*?]c"        => [["a*c", "a?c"], ["abc"]],
      "a[\\]\\-x]c"   => [["a]c", "a-c", "axc"], ["abc", "a\\c"]],
      "a[[&]c"        => [["a[c", "a&c"], ["abc"]],
      "a[x^]c"        => [["axc", "a^c"], ["abc"]],
      "(a|b).c+"      => [["(a|b).c+"], ["a.c", "b.c", "a.cc", "(a|b)xc+"]],
      "über*"         => [["über", "überall"], ["uber"]],
      "ü?"            => [["üä"], ["ü", "üäö"]],
      "{a,b}"         => [["{a,b}"], ["a", "b"]],
      ".*"            => [[".a", "."], ["a."]],
      "a/**/b"        => [["a/x/b", "a/x/y/b", "a/.x/b"], ["a/b"]],
      "*"             => [["a", ".a", "a/.b", "line\nbreak", "ü", "a\0b"], []],
      "a\0*"          => [["a\0", "a\0b"], ["a", "ab"]],
      "products/*"    => [["products/1", "products/1/2"], ["product", "products"]]
    }.each do |glob, (matching, others)|
      test "the glob #{glob} matches whole keys and nothing else" do
        write_keys(*matching, *others)
        assert_equal matching.size, store.delete_matched(glob)
        assert_equal others.sort, left
      end
    end

    test "a glob matches as File.fnmatch? says, a leading dot included" do
      random = Random.new(21)
      keys = Array.new(60) { Array.new(random.rand(1..5)) { "ab./[]-^!\\*".chars.sample(random: random) }.join }.uniq
      60.times do
        glob = Array.new(random.rand(1..5)) { "ab./*?[]-^!\\".chars.sample(random: random) }.join
        store.clear
        write_keys(*keys)
        store.delete_matched(glob)
        assert_equal keys.reject { |key| File.fnmatch?(glob, key, File::FNM_DOTMATCH) }.sort, left, glob
      end
    end

    test "a namespace is no glob" do
      cache = new_store(namespace: "n*")
      write_keys "a", cache: cache
      write_keys "na:a"
      cache.delete_matched("*")
      assert_equal %w[na:a], left
    end

    test "keys that are no text do not get in the way" do
      bytes = "\xFF\xFE".b
      write_keys bytes, "text", "ütext"
      assert_equal 2, store.delete_matched(/t\w+t/)
      assert_equal 1, store.cache.each_key.count
      assert_equal 1, store.delete_matched("*")
      assert_nil store.read(bytes)
    end

    test "raw values and counters are deleted too" do
      store.increment("n/1")
      store.write("n/2", "x", raw: true)
      assert_equal 2, store.delete_matched("n/*")
      assert_equal 1, store.increment("n/1")
    end

    test "anything else than a Regexp or a String is an error" do
      assert_raises(ArgumentError) { store.delete_matched(:foo) }
      assert_raises(ArgumentError) { store.delete_matched(nil) }
    end

    test "thousands of keys are deleted" do
      store.write_multi((0...3000).to_h { |i| ["#{i.odd? ? "odd" : "even"}/#{i}", i] })
      assert_equal 1500, store.delete_matched("odd/*")
      assert_equal 1500, left.size
      assert(left.all? { |key| key.start_with?("even/") })
    end
  end
end
