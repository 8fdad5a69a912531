# frozen_string_literal: true

# Declares the published comparison of compressors, with decompressing, natural text and levels, which it left out.

require_relative "coded"

module Larder
  module Lab
    module Suites
      register("published-b", Bench::Suite.define("published-b") do
        title "Compressors"
        command "compressors", "time and size of compressors in both directions, on records, text or your data", <<~TEXT
          Compresses and decompresses one marshalled Book.all.to_a, as published, and a
          megabyte of JSON. The article measured compressing alone. The report shows its
          figures with the same ones here, and the fastest compressor for each bandwidth.
        TEXT
        question "How long do compressors take in each direction, and how many bytes do they leave?"
        registry Codecs::Compressors
        base "zstd-3"
        answers "compress_books", "decompress_books", "compress_text"
        Coded.declare(self, %w[books text], Coded.method(:compress),
                      { "compress" => Coded::THERE, "decompress" => Coded::BACK })
      end)
    end
  end
end
