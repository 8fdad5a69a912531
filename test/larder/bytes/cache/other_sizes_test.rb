# frozen_string_literal: true

require "test_helper"

# Estimates for other sizes of the file.
class LarderCacheOtherSizesTest < ActiveSupport::TestCase
  include TemporaryCaches

  SIZE = 1 << 20
  VALUE = ("x" * 1000).freeze

  def use_many(cache, calls)
    random = Random.new(7)
    calls.times do
      key = (8000 * (random.rand**3)).to_i.to_s
      cache.get(key) || cache.set(key, VALUE)
    end
  end

  test "each size has an estimate and its error where the cache evicts" do
    cache = open_cache("c.larder", size: SIZE)
    use_many(cache, 200_000)
    found = cache.other_sizes
    half, twice, = found[:sizes]
    assert_equal [SIZE, true, cache.stats[:hit_ratio]], found.values_at(:size_bytes, :evicts, :hit_ratio)
    assert_equal([SIZE / 2, SIZE * 2, SIZE * 4], found[:sizes].map { |size| size[:size_bytes] })
    assert_operator half[:hit_ratio], :<, found[:hit_ratio]
    assert_operator twice[:hit_ratio], :>, found[:hit_ratio]
    assert_includes 0.001..0.2, twice[:error]
    assert_operator twice[:reads], :>, 1000
  end

  test "a file of the estimated size has about that hit ratio" do
    cache = open_cache("c.larder", size: SIZE)
    use_many(cache, 200_000)
    size = cache.other_sizes[:sizes][1]
    larger = open_cache("d.larder", size: size[:size_bytes])
    use_many(larger, 200_000)
    assert_in_delta size[:hit_ratio], larger.stats[:hit_ratio], (2 * size[:error]) + 0.01
  end

  test "nothing is estimated where nothing is evicted, or nothing was read" do
    cache = open_cache("c.larder", size: SIZE)
    nothing = { hit_ratio: nil, error: nil, reads: 0 }
    assert_equal({ size_bytes: SIZE, hit_ratio: nil, evicts: false, needed_bytes: nil,
                   sizes: [SIZE / 2, SIZE * 2, SIZE * 4].map { |bytes| { size_bytes: bytes, **nothing } } },
                 cache.other_sizes)
    1000.times { |i| cache.set(i.to_s, VALUE) }
    assert_equal([true, [nil] * 3], [cache.other_sizes[:evicts], cache.other_sizes[:sizes].map { |s| s[:hit_ratio] }])
  end

  test "a closed cache raises" do
    cache = open_cache("c.larder")
    cache.close
    assert_raises(Larder::ClosedError) { cache.other_sizes }
  end
end
