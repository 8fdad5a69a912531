# frozen_string_literal: true

require_relative "../support/base"

module Proof
  # Takes resources away from live caches, and gives them back.
  class Resources < Base
    NAME = "resources"
    TITLE = "Without room, descriptors, slots, rights or time a cache misses, says why, and heals"
    HELP = "full and failing disks, no descriptors, no slots, no rights, jumping clocks, stopped owners"

    # @return [String, nil]
    def missing
      "mounts, limits and namespaces are those of Linux" unless RUBY_PLATFORM.include?("linux")
    end

    # @param report [Proof::Report]
    # @return [void]
    def attack(report)
      programs = Dir[File.join(ROOT, "engine/test/proof/resources_*.c")].map { |path| File.basename(path, ".c") }.sort
      programs.each do |name|
        program = File.join(shared_build, "proof", name)
        next unless make(report, program)

        run(report, [program], env: quick ? {} : { "LARDER_PROOF_FULL" => "1" })
      end
    end
  end
end
