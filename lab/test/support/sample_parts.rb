# frozen_string_literal: true

require "larder/lab/advice/measuring"
require "larder/lab/advice/ranking"

# Parts of calls made by hand, so that what is advised of them is known.
module SampleParts
  # name => seconds to serialize, to deserialize, bytes, bytes by compressor
  SERIALIZERS = { "larder" => [50e-6, 40e-6, 9000], "native" => [50e-6, 40e-6, 9000],
                  "marshal" => [100e-6, 90e-6, 10_000], "json" => [200e-6, 150e-6, 12_000] }.freeze
  # name => seconds to compress, to decompress, share of the bytes that is left
  COMPRESSORS = { "zstd-3" => [60e-6, 20e-6, 0.3], "zlib" => [300e-6, 60e-6, 0.28] }.freeze
  # name => seconds of a write, of a read
  STORES = { "larder" => [10e-6, 5e-6], "larder with codecs" => [20e-6, 12e-6], "memory" => [8e-6, 8e-6],
             "file" => [300e-6, 200e-6], "redis" => [100e-6, 90e-6], "memcached" => [110e-6, 95e-6] }.freeze
  SIZES = [1000, 20_000].freeze

  module_function

  # @param wobble [Float] share by which rounds differ
  # @param losses [Hash{String=>Array<String>}] by serializer
  # @param largest [Hash{String=>Integer}] bytes that a store takes, by store
  # @param round_trip [Float] seconds
  # @return [Larder::Lab::Advice::Parts]
  def build(wobble: 0.0, losses: {}, largest: {}, stores: STORES, round_trip: 0.0)
    factors = [1.0, 1.0 + wobble, 1.0 - wobble]
    Larder::Lab::Advice::Parts.new(nature: nature, codecs: codecs(factors, losses),
                                   stores: stores_of(factors, largest, stores), round_trip: round_trip)
  end

  def nature
    { "classes" => { "Hash" => 1, "String" => 12 }, "depth" => 2, "counted" => 13, "text" => 8000,
      "marshal" => 10_000, "refusal" => nil, "deflated" => 2800 }
  end

  def codecs(factors, losses)
    results = results("parts", SERIALIZERS.keys, {})
    SERIALIZERS.each do |name, (there, back, bytes)|
      times = { "serialize" => there, "deserialize" => back }
      COMPRESSORS.each do |each, (pack, unpack)|
        times.update("compress #{each}" => pack, "decompress #{each}" => unpack)
      end
      add(results, name, factors, times)
      packed = { "none" => bytes, **COMPRESSORS.transform_values { |figures| (bytes * figures[2]).round } }
      facts(results, name, "bytes" => bytes, "losses" => losses.fetch(name, []), "packed" => packed)
    end
    results
  end

  def stores_of(factors, largest, stores)
    results = results("store_calls", stores.keys, { sizes: SIZES })
    stores.each do |name, (write, read)|
      refused = SIZES.select { |size| size > largest.fetch(name, SIZES.last) }
      (SIZES - refused).each { |size| add(results, name, factors, "write #{size}" => write, "read #{size}" => read) }
      facts(results, name, "refused" => refused)
    end
    results
  end

  def results(kind, names, job)
    trials = names.map { |name| Larder::Lab::Advice::Rounds::Trial.new(name: name, job: job) }
    plan = Larder::Lab::Advice::Rounds::Plan.new(kind: kind, trials: trials, rounds: 3, seconds: 0.01, seed: 1)
    Larder::Lab::Advice::Rounds::Results.new(plan, { ruby: "ruby", cores: 2 })
  end

  def add(results, name, factors, times)
    factors.each_with_index do |factor, round|
      times.each do |operation, seconds|
        results.add(name, round + 1, "event" => "block", "operation" => operation, "calls" => 1,
                                            "seconds" => seconds * factor)
      end
    end
  end

  def facts(results, name, facts)
    results.add(name, 1, "event" => "facts", **facts)
  end

  # @param answers [Hash{Symbol=>String}]
  # @return [Larder::Lab::Advice::Ranking]
  def ranking(parts = build, **answers)
    answers = { memory: "8gb", size: "1gb", **answers }
    Larder::Lab::Advice::Ranking.new(Larder::Lab::Advice::Question.new(answers), parts)
  end
end
