# frozen_string_literal: true

module Larder
  module Lab
    module Suites
      # Finds out what stores can do, by trying. Each table of the report is a block.
      module Features
        autoload :Questions, File.expand_path("features/questions", __dir__)

        # Answers in place of yes and no: a question was tried without a result, or could not be tried.
        UNKNOWN = "unknown"
        UNTRIED = "not tested"
        # Blocks with their questions. A question has its name, which is that of the method that answers it, the title
        # of its column, and the meaning of yes.
        BLOCKS = {
          published: ["the published table", {
            serializes: ["serializes", "a copy is kept: neither the object nor what was read can change it"],
            compression: ["compression", "a text of 900 kB takes less room; on request: with compress: true"],
            local_store: ["local store", "inside with_local_cache a second read does not reach the store"],
            cross_process: ["cross process", "two processes read what the other wrote, and miss what it deleted"],
            node_local: ["node local", "the processes of one machine share it without another machine"],
            remote: ["remote", "a client reaches it by host and port"],
            cluster: ["cluster", "a client spreads its keys over two servers"]
          }],
          calls: ["calls", {
            expires: ["expires", "a value is gone after its second"],
            expires_within_a_second: ["under 1 s", "a value of 0.4 s is there, and gone in time"],
            race_condition_ttl: ["race ttl", "while one caller renews an expired value, others read the old one"],
            delete_matched: ["delete_matched", "the kind of pattern that it takes"],
            long_keys: ["keys > 250 B", "such keys are kept apart to their last byte"],
            largest: ["largest value", "that can be read back, incompressible, of at most 16 MiB tried"]
          }],
          lasting: ["values that last, and processes that share them", {
            app_restart: ["app restart", "a value is there in the next process"],
            app_killed: ["app kill -9", "the same after kill -9 of the process that wrote it"],
            server_restart: ["server restart", "the same after the server was stopped and started"],
            server_killed: ["server kill -9", "the same after kill -9 of the server"],
            atomic_increment: ["increment", "no increment of several processes at once is lost"],
            fork_safe: ["fork", "a child uses the store that its parent opened, and the parent afterwards"]
          }]
        }.freeze
      end

      register("features", Bench::Suite.define("features") do
        title "What each store does"
        command "features", "tests what each store can do: sharing, persistence, expiry, compression", <<~TEXT
          Tests each cell of the published table of Rails cache stores: does a second
          process see what the first wrote, does the store serialize, compress, spread
          over servers. It also tests whether values survive a restart and kill -9 of the
          application and of the server, increments of several processes at once, fork,
          expiry, race_condition_ttl, delete_matched, long keys and the largest value.
          Whether memory or disk limits a store, and evicts: larder-lab capacity.

          Private servers are stopped and killed. A server that you name by a URL is not;
          its cells say so. "unknown": it was tried and gave no answer; "not tested": it
          was not tried. Both have their reasons below the tables.
        TEXT
        question "What does each store do, tested with processes, servers and files of its own?"
        chapter { SuiteReport::FeaturesChapter }
        sessions 1
        copies 1
        proofs 0
        size 64 << 20
        usual { [*Contenders.usual, "larder-redis"] }

        Features::BLOCKS.each do |key, (name, questions)|
          about = questions.values.map { |heading, meaning| "#{heading}: #{meaning}" }.join("; ")
          block(key, name, unit: "question", about: about) do
            setup { |scene| scene[:asked] = Features::Questions.new(scene) }
            paced { |scene| scene[:asked].answers(questions.keys) }
            questions.each do |question, (heading, _)|
              column(heading, question == :largest ? "bytes" : "text") { |found| found[question.to_s]&.first }
            end
          end
        end
      end)
    end
  end
end
