# frozen_string_literal: true

require "test_helper"
require "larder/bytes/interrupts"
require "support/openers_lock"

# How a lazy cache attaches to its file in the first calls of a process, and how it ends.
class LarderCacheAttachingTest < ActiveSupport::TestCase
  include TemporaryCaches
  include Processes
  include OpenersLock

  GARBAGE = "not a cache\n" * 1000

  def lazy(name = "test.larder", **options)
    open_cache(name, lazy: true, **options)
  end

  def in_request(&block)
    Larder::WebRequest.new(->(_) { block.call }).call({})
  end

  # A file with some entries that no process has open.
  def prepare(name = "test.larder")
    Larder::Cache.open(path_of(name), size: SIZE) { |made| made.set_multi({ "kept" => "old", "deleted" => "old" }) }
  end

  def open_error(&block)
    assert_raises(Larder::OpenError, &block).message
  end

  # The keys in the file, read by another process.
  def keys_in_file
    in_child { Larder::Cache.open(path_of, create: false) { |opened| opened.each_key.sort } }
  end

  # Puts something else in the place of the file for the time of the block.
  def while_replaced
    File.rename(path_of, path_of("away"))
    File.write(path_of, GARBAGE)
    File.chmod(0o600, path_of)
    yield
  ensure
    File.rename(path_of("away"), path_of)
  end

  test "a first call finds what is in the file, although other threads hold the GVL" do
    names = Array.new(10) { |i| "busy#{i}.larder" }.each { |name| prepare(name) }
    answers = in_child do
      ENV["RAILS_ENV"] = "production"
      3.times { Thread.new { loop { nil } } }
      names.each_slice(2).map do |one, other|
        [lazy(one).get("kept"), open_cache(other, lazy: :strict).delete("deleted")]
      end
    end
    assert_equal [["old", true]] * 5, answers
  end

  test "twenty threads that make the first call at once all find it, also in a forked child" do
    prepare
    shared = lazy
    all = -> { Array.new(20) { Thread.new { in_request { shared.get("kept") } } }.map(&:value) }
    assert_equal ["old"] * 20, in_child(&all)
    assert_equal ["old"] * 20, all.call
    assert_equal ["old"] * 20, in_child(&all)
  end

  test "a web request waits for an opener for a while, and then raises for each change and once for a read" do
    prepare
    request = lazy
    holding_openers_lock(path_of) do
      in_request do
        assert_match(/is being made, opened or closed/, open_error { request.get("kept") })
        assert_nil request.get("kept")
        2.times { assert_match(/\Adeleted could not/, open_error { request.delete("deleted") }) }
      end
    end
    request.close
    assert_equal ["kept"], keys_in_file
  end

  test "the wait for an opener ends when an exception of another thread is deferred" do
    prepare
    cache = lazy
    begun, go = Queue.new, Queue.new
    thread = Thread.new do
      Thread.current.report_on_exception = false
      Thread.handle_interrupt(Larder::Interrupts::DEFERRED) do
        begun << true
        go.pop
        cache.get("kept")
      end
    end
    holding_openers_lock(path_of) do
      begun.pop
      thread.raise(IOError)
      go << true
      assert_raises(IOError) { thread.join }
      assert_predicate cache.instance_variable_get(:@attaching), :alive?
    end
  end

  test "a change that could not be applied is applied when the process ends" do
    prepare
    while_replaced do
      @pid = fork do
        assert_raises(Larder::OpenError) { lazy.delete("deleted") }
        Process.kill(:STOP, Process.pid)
        exit
      end
      Process.wait(@pid, Process::WUNTRACED)
    end
    Process.kill(:CONT, @pid)
    assert_predicate wait_for(@pid), :success?
    assert_equal ["kept"], keys_in_file
  end

  test "a change by a hook that runs after the changes were reported is applied or reported, too" do
    prepare
    late = 'at_exit { File.rename(ARGV[1], ARGV[0]) if ARGV[1]; cache.delete("deleted") rescue 0 }'
    script = 'cache = nil; %s; cache = Larder::Cache.open(ARGV[0], lazy: true); cache.delete("other") rescue 0'
    while_replaced do
      lines = run_ruby(format(script, late), path_of).lines
      assert_equal ["1 changes", "2 changes"], lines.map { |line| line[/could not apply (.*);/, 1] }
      File.link(path_of("away"), path_of("back"))
    end
    late = 'at_exit { cache.delete("deleted") rescue 0; File.rename(ARGV[1], ARGV[0]) }'
    File.rename(path_of, path_of("away"))
    File.write(path_of, GARBAGE)
    File.chmod(0o600, path_of)
    assert_equal 1, run_ruby(format(script, late), path_of, path_of("away")).lines.size
    assert_equal ["kept"], keys_in_file
  end

  test "a daemon applies the changes of the parent that it was forked from" do
    prepare
    daemon = <<~RUBY
      begin
        cache = Larder::Cache.open(ARGV[0], lazy: true)
        cache.delete("deleted")
      rescue Larder::OpenError
        puts "reported"
      end
      $stdout.flush
      Process.daemon(true, true)
      puts Process.pid
      $stdout.flush
      Process.kill(:STOP, Process.pid)
    RUBY
    reader = nil
    while_replaced do
      lib = File.expand_path("../../../../lib", __dir__)
      reader = IO.popen([RbConfig.ruby, "-I#{lib}", "-rlarder", "-e", daemon, path_of])
      assert_equal "reported\n", reader.gets
      @daemon = reader.gets.to_i
      Thread.pass until File.read("/proc/#{@daemon}/stat").include?(") T ")
    end
    Process.kill(:CONT, @daemon)
    assert_equal "", reader.read # until it has ended
    assert_equal ["kept"], keys_in_file
  ensure
    reader&.close
  end

  test "a change that cannot be applied by then is reported, with the command that helps" do
    prepare
    while_replaced do
      script = "cache = Larder::Cache.open(ARGV[0], lazy: true); %w[a b].each { |key| cache.delete(key) rescue 0 }"
      line = /\Alarder: #{path_of}: this process could not apply 2 changes; .*: larder clear #{path_of}\Z/
      assert_match line, run_ruby(script, path_of)
      assert_match line, run_ruby("#{script}; cache.close; exit!(0)", path_of)
      assert_equal 1, run_ruby("#{script}; Process.wait(fork { exit })", path_of).lines.size
    end
  end

  test "two threads note changes of two caches at the same time" do
    assert_equal "2\n", run_ruby(<<~RUBY, path_of("one.larder"), path_of("two.larder"))
      one, two = ARGV.map { |path| Larder::Cache.open(path, lazy: true) }
      list = Larder::Cache.const_get(:Attaching)
      other = nil
      one.define_singleton_method(:pending?) do
        (other ||= Thread.new { list.keep(two) }).join if Thread.current == Thread.main
        true
      end
      2.times { list.keep(one) }
      puts list.instance_variable_get(:@pending).size
    RUBY
  end

  test "where there is no file there is nothing to apply, and none is created" do
    File.write(path_of("place"), "")
    assert_equal "", run_ruby(<<~RUBY, path_of("place/c.larder"))
      cache = Larder::Cache.open(ARGV[0], lazy: true)
      cache.delete("key") rescue File.delete(File.dirname(ARGV[0]))
    RUBY
    assert_empty Dir.children(directory)
  end
end
