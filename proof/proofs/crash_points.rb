# frozen_string_literal: true

require_relative "../support/base"

module Proof
  # Kills processes at each store to shared memory that an operation makes, and at each store of the repair after it;
  # shows that there are no other stores.
  class CrashPoints < Base
    NAME = "crash"
    TITLE = "A process killed at any store to shared memory costs nothing but what it was storing"
    HELP = "a child is killed at each store to shared memory of each operation, and of each repair"

    # The programs of engine/test, and what each does
    PROGRAMS = {
      "points" => "one kill, at each store of each operation",
      "image" => "kills before, among and after the pages of each pwrite(2)",
      "repair" => "two kills, the second at each store of the repair; chains of kills",
      "file" => "kills while a file is made, opened, closed, replaced",
      "index_resize" => "stops and kills inside splits and moves, with deletes meanwhile",
      "stopped" => "stops, while everybody else goes on",
      "capacity" => "thousands of kills in one file, which must hold as much as before",
      "shut" => "all of it on memory that only numbered stores can change"
    }.freeze

    # Files there are in memory: what is proved does not depend on the disk, which would take most of the time.
    MEMORY = "/dev/shm"

    # @param report [Proof::Report]
    # @return [void]
    def attack(report)
      env = quick ? { "LARDER_CRASH_STRIDE" => nil } : { "LARDER_CRASH_STRIDE" => "1" }
      env["TMPDIR"] = MEMORY if File.writable?(MEMORY)
      programs = PROGRAMS.keys.map { |name| "test/#{name}_crash.c" }
      make(report, "crash-test", env: env,
                                 variables: { "CRASH_TESTS" => programs.join(" ") })
    end
  end
end
