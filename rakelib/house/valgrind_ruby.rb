# frozen_string_literal: true

# A short Ruby run through every native method under valgrind's memcheck. Ruby's collector reads whatever is on the
# stack, which memcheck complains about by the thousand, so only complaints count in which code of the extension was
# running, and not called back into Ruby.
#
# Run as a program: ruby rakelib/house/valgrind_ruby.rb

require "open3"
require "tmpdir"
require_relative "counts"
require_relative "environment"

module House
  # Runs, reads valgrind's report, sums up.
  class ValgrindRuby
    SCRIPT = <<~RUBY
      require "active_support"
      require "active_support/cache/larder_store"
      ActiveSupport::Cache.format_version = 7.1

      def bytes(cache, round)
        [0, 10, 1500, 300_000].each do |size|
          value = "v" * size
          raise "set" unless cache.set("k\#{size}", value, ttl: 60) && cache.get("k\#{size}") == value
          raise "cas" unless cache.cas("k\#{size}", value, "w") && cache.touch("k\#{size}", ttl: 5)
          raise "ttl" unless cache.ttl("k\#{size}") && cache.exist?("k\#{size}") && cache.add("a\#{size}\#{round}", "v")
          raise "delete" unless cache.delete("k\#{size}") && cache.get("k\#{size}").nil?
        end
        pairs = 40.times.to_h { |i| ["m\#{i}", "x" * (i * 40)] }
        raise "multi" unless cache.set_multi(pairs) == [] && cache.get_multi(pairs.keys) == pairs
        raise "keys" unless cache.each_key(prefix: "m").to_a.size == 40 && cache.delete_multi(pairs.keys) == 40
        raise "count" unless cache.increment("n\#{round}", 5) == 5
        cache.stats && cache.verify && cache.prune
      end

      def rails(store, round)
        ["text", 1.5, -1, nil, true, { a: [1] }, "b".b, :symbol, "l" * 300_000].each do |value|
          raise "write" unless store.write("v", value, expires_in: 900, race_condition_ttl: 5) && store.exist?("v")
          raise "read \#{value.inspect[0, 30]} \#{store.read("v").inspect[0, 30]}" unless store.read("v") == value && store.fetch("v") { 1 } == value
        end
        raise "fetch" unless store.fetch(["f", round], expires_in: 60, namespace: "n") { round } == round
        pairs = 9.times.to_h { |i| ["p\#{round}/\#{i}", i.odd? ? "v" * (i * 400) : [i]] }
        raise "multi" unless store.write_multi(pairs) && store.read_multi(*pairs.keys, "no") == pairs
        raise "fetch_multi" unless store.fetch_multi("x\#{round}", "y") { |name| name }.size == 2
        raise "rest" unless store.increment("n") && store.delete("v")
        store.cleanup
      end

      cache = Larder::Cache.open(File.join(ARGV[0], "bytes.larder"), size: 4 << 20)
      store = ActiveSupport::Cache::LarderStore.new(File.join(ARGV[0], "store.larder"), size: 4 << 20)
      2.times { |round| bytes(cache, round) && rails(store, round) }
      ActiveSupport::Notifications.subscribed(->(*) {}, /cache_/) { rails(store, 3) }
      GC.compact if GC.respond_to?(:compact)
      rails(store, 4)
      pid = fork { rails(store, 5) && cache.get("n0") && exit!(0) }
      raise "child" unless Process.wait2(pid).last.success?
      cache.close
      print "all of it ran"
    RUBY

    OURS = %r{/larder/larder\.so\z}
    RUBY = /libruby|ruby3/
    KINDS_OF_READS = /\A(?:Invalid|Uninit|SyscallParam|Overlap|Mismatched)/
    private_constant :SCRIPT, :OURS, :RUBY, :KINDS_OF_READS

    # @return [Boolean] whether it ran and nothing was found
    def check
      Dir.mktmpdir("larder-valgrind") do |directory|
        report = File.join(directory, "report.%p.xml")
        output, status = Open3.capture2e(Environment.variables, *valgrind(report), *ruby, "-e", SCRIPT, directory)
        ran = status.success? && output.end_with?("all of it ran")
        puts output unless ran
        found = Dir[report.sub("%p", "*")].flat_map { |path| findings(File.read(path, encoding: "UTF-8").scrub) }
        found.each { |error| puts error }
        puts "#{ran ? 1 : 0} passed, #{found.size + (ran ? 0 : 1)} failed"
        ran && found.empty?
      end
    end

    private

    def valgrind(report)
      ["valgrind", "-q", "--xml=yes", "--xml-file=#{report}", "--num-callers=40", "--undef-value-errors=yes",
       "--trace-children=no", "--max-stackframe=10000000"]
    end

    def ruby
      ["ruby", "-rbundler/setup", "-I#{File.join(ROOT, "lib")}"]
    end

    # @return [Array<String>] one text for each error of ours
    def findings(xml)
      xml.scan(%r{<error>.*?</error>}m).filter_map do |error|
        frames = error[%r{<stack>.*?</stack>}m].to_s.scan(%r{<frame>.*?</frame>}m)
        objects = frames.map { |frame| frame[%r{<obj>(.*?)</obj>}, 1].to_s }
        next unless ours?(error[%r{<kind>(.*?)</kind>}, 1].to_s, objects)

        functions = frames.map { |frame| "  #{frame[%r{<fn>(.*?)</fn>}, 1]} #{frame[%r{<file>(.*?)</file>}, 1]}" }
        [error[%r{<kind>(.*?)</kind>}, 1], *functions.first(12)].join("\n")
      end
    end

    # The innermost frame that is neither the C library's nor valgrind's decides whose it is. A leak is not looked for:
    # Ruby frees nothing at its end.
    def ours?(kind, objects)
      KINDS_OF_READS.match?(kind) && objects.find { |object| OURS.match?(object) || RUBY.match?(object) }&.match?(OURS)
    end
  end
end

exit House::ValgrindRuby.new.check if $PROGRAM_NAME == __FILE__
