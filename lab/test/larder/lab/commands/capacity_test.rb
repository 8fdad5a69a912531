# frozen_string_literal: true

require "test_helper"

module Larder
  module Lab
    module Commands
      # Real stores filled until they evict.
      class CapacityTest < ActiveSupport::TestCase
        test "what is held is counted, weighed and compared with the limit" do
          with_directory do |dir|
            file = File.join(dir, "out.json")
            outcome = lab("capacity", "--quick", "--objects", "10k", "--only", "larder,file,null", "--dir", dir,
                          "--check", "2000", "--seed", "1", "--json", file)
            assert_equal 0, outcome.status, outcome.out + outcome.err
            assert_equal ["out.json"], Dir.children(dir)
            larder, files = fillings(file).values_at("larder", "file")
            assert_equal "evicting", larder["stopped"]
            assert_equal larder["found"], larder["held"]
            assert_includes 600..838, larder["held"]
            assert_operator larder["growth"]["disk"], :<=, 10 << 20 # 8 MiB, and the statistics
            assert_nil files["stopped"]
            assert_equal [1259, 1259, 1259], files.values_at("written", "looked_for", "held")
            assert_match(/^  null +not measured: it keeps nothing/, outcome.out)
          end
        end

        test "what makes no sense is refused, help is not" do
          assert_match(/unknown objects 5k; known: 100b, 1k/, lab("capacity", "--objects", "5k").err)
          assert_match(/--rounds must be 1 or more/, lab("capacity", "--rounds", "0").err)
          help = lab("capacity", "--help")
          assert_equal 0, help.status
          assert_empty(help.out.lines.map(&:chomp).select { |line| line.size > 80 })
        end

        private

        def fillings(file)
          JSON.parse(File.read(file))["chapters"].first["details"]["fillings"].to_h { |one| [one["contender"], one] }
        end
      end
    end
  end
end
