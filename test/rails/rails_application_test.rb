# frozen_string_literal: true

require "support/store_case"
require "support/shop"

# A real Rails application with config.cache_store = :larder_store, booted in a Ruby of its own by each test.
class RailsApplicationTest < StoreCase
  include RailsShop

  test "one line of configuration puts the cache below storage" do
    answers = in_rails(<<~RUBY, cache_store: ":larder_store")
      [Rails.cache.class.name, Rails.cache.cache.path, Rails.cache.write("key", 1), Rails.cache.read("key"),
       Rails.application.middleware.first.name, Rails.application.middleware.map(&:name).grep(/LocalCache/)]
    RUBY
    path = File.join(root, "storage/larder/production/cache.larder")
    assert_equal ["ActiveSupport::Cache::LarderStore", path, true, 1, "Larder::WebRequest", []], answers
  end

  slow_test "a relative path is taken from Rails.root, and options are used" do
    store = %(:larder_store, "tmp/own.larder", { size: 8.megabytes, expires_in: 1.day, namespace: "shop" })
    answers = in_rails(<<~RUBY, cache_store: store, from: directory)
      [Rails.cache.cache.path, Rails.cache.cache.size, Rails.cache.options[:expires_in].to_i,
       Rails.cache.options[:namespace]]
    RUBY
    assert_equal [File.join(root, "tmp/own.larder"), 8 << 20, 86_400, "shop"], answers
  end

  slow_test "a size that is not the file's is warned of with the line that configures it, and what to do" do
    boot("Rails.cache.read(1)")
    output, = boot("Rails.cache.read(1)", cache_store: ":larder_store, { max_size: '16MB' }")
    path = File.join(root, "storage/larder/production/cache.larder")
    line = "#{root}/config/cache.rb:1"
    assert_match(/^#{line}: warning: larder: #{path} has \d+ bytes, not the configured /, output)
    assert_includes output, "larder resize #{path} #{16 << 20}"
    assert_equal 1, output.scan("warning: larder").size
  end

  slow_test "an application without eager loading boots too" do
    script = "[Rails.env, Rails.cache.fetch('key') { 1 }, Rails.cache.fetch('key') { 2 }]"
    assert_equal ["development", 1, 1], in_rails(script, env: "development")
  end

  test "fragments are rendered once, and a changed product renders itself and what is around it" do
    first, second, changed, page = in_rails(<<~RUBY)
      toys, = make_shop
      path = "/categories/\#{toys.id}"
      first = rendered { get(path) }
      second = rendered { get(path) }
      toys.products.first.update!(name: "Red ball")
      [first, second, rendered { get(path) }, get(path)]
    RUBY
    assert_equal %w[Toys Ball Kite], first
    assert_equal [], second
    assert_equal ["Toys", "Red ball"], changed
    assert_equal [200, "<h1>Toys</h1> <p>Red ball</p> <p>Kite</p>"], page
  end

  test "a fragment with single_flight is rendered by one of many requests, and one that raises lets another" do
    renders, pages, unable, again = in_rails(<<~RUBY)
      toys, books = make_shop
      pages = nil
      renders = rendered { pages = Array.new(5) { Thread.new { get("/categories/\#{toys.id}/busy") } }.map(&:value) }
      unable = Thread.new { get("/categories/\#{books.id}/busy?unable=1") rescue $!.message }
      sleep 0.02 until RenderedHelper.rendered.last == "Books"
      again = get("/categories/\#{books.id}/busy")
      [renders, pages.uniq, unable.value, again]
    RUBY
    assert_equal %w[Toys], renders
    assert_equal [[200, "<p>Busy with Toys</p>"]], pages
    assert_equal "unable", unable
    assert_equal [200, "<p>Busy with Books</p>"], again
  end

  test "fragments with tags go with a record of theirs, also one that is deleted while they are rendered" do
    renders, page = in_rails(<<~RUBY)
      toys, = make_shop
      path = "/categories/\#{toys.id}/tagged"
      renders = [rendered { get(path) }, rendered { get(path) }]
      toys.products.first.update_columns(name: "Red ball")
      renders << rendered { get(path) }
      Rails.cache.delete_tagged(toys.products.first)
      renders << rendered { get(path) }
      Rails.cache.delete_tagged(toys)
      renders << rendered { get(path) }
      Rails.cache.delete_tagged(*toys.products)
      renders << rendered { get("\#{path}?changes=1") } << rendered { get(path) } << rendered { get(path) }
      [renders, get(path)]
    RUBY
    all = %w[Toys Ball Kite]
    changed = ["Toys", "Red ball", "Kite"]
    assert_equal [all, [], [], ["Toys", "Red ball"], ["Toys"], changed, changed, []], renders
    assert_equal [200, "<h1>Toys</h1> Red ball Kite"], page
  end

  test "an application whose store is another one deletes tags by clearing it" do
    answers = in_rails(<<~RUBY, cache_store: ":memory_store")
      Rails.cache.write("key", 1, tags: "t")
      [Larder.delete_tagged("t") && true, Rails.cache.read("key")]
    RUBY
    assert_equal [true, nil], answers
  end

  slow_test "fragments outlive the application, and a second process uses them" do
    in_rails("make_shop && get('/categories/1')")
    again = in_rails("[rendered { get('/categories/1') }, get('/categories/1')]")
    assert_equal [[], [200, "<h1>Toys</h1> <p>Ball</p> <p>Kite</p>"]], again
  end

  test "a collection is read in one pass and only what changed is rendered" do
    first, announced, second, changed, page = in_rails(<<~RUBY)
      toys, books = make_shop
      first = rendered { get("/categories") }
      second = nil
      announced = announced { second = rendered { get("/categories") } }
      books.update!(name: "Old books")
      [first, announced, second, rendered { get("/categories") }, get("/categories")]
    RUBY
    assert_equal %w[Toys Books], first
    assert_equal ["read_multi"], announced
    assert_equal [], second
    assert_equal ["Old books"], changed
    assert_equal [200, "<p>Toys</p> <p>Old books</p>"], page
  end

  slow_test "rate_limit counts in the cache, in all processes, and for as long as it says" do
    skip "this Rails has no rate_limit" if ActiveSupport.gem_version < Gem::Version.new("7.2.0.alpha")

    assert_equal [200, 200, 429], in_rails("Array.new(3) { get('/limited').first }")
    here, later = in_rails("[get('/limited').first, travel(61.seconds) { Array.new(3) { get('/limited').first } }]")
    assert_equal 429, here
    assert_equal [200, 200, 429], later
  end

  test "Rails.cache.fetch keeps a value for its time, and counters count" do
    assert_equal ["3 products, 1 views", "3 products, 2 views", "4 products, 3 views"], in_rails(<<~RUBY)
      toys, = make_shop
      first = get("/figures").last
      toys.products.create!(name: "Train")
      [first, get("/figures").last, travel(61.seconds) { get("/figures").last }]
    RUBY
  end

  test "a delete wins over the value of a block in which a job or a request has run, in a request and outside" do
    answers = in_rails(<<~RUBY)
      executor = Rails.application.executor
      works = [-> { executor.wrap { 1 } }, -> { get("/figures") }]
      values = lambda do
        works.map do |work|
          Rails.cache.fetch("key", single_flight: true) { work.call && Rails.cache.delete("key").then { "old" } }
          Rails.cache.read("key")
        end
      end
      request = executor.run!(reset: true) # as ActionDispatch::Executor does
      [values.call, request.complete!.then { values.call }]
    RUBY
    assert_equal [[nil, nil], [nil, nil]], answers
  end

  # Leaves a value that has expired, and yields to a call that serves it.
  EXPIRED = <<~RUBY
    def after_expiry
      Rails.cache.write("rates", "old", expires_in: 0.01, stale_while_revalidate: 60)
      sleep 0.02
      [yield, Larder::Store::Refreshes.await(30) && Rails.cache.read("rates")]
    end
  RUBY

  test "an old value is computed again after the response, and in an action of ActionController::Live at once" do
    request, live = in_rails("#{EXPIRED}%w[/rates /live_rates].map { |path| after_expiry { get(path) } }")
    assert_equal [[200, "old, then nil"], "new"], request
    assert_equal [[200, 'old, then "new"'], "new"], live
  end

  test "an old value is computed again before a job or a script ends" do
    answers = in_rails(<<~RUBY)
      #{EXPIRED}
      refresh = -> { Rails.cache.fetch("rates", expires_in: 60, stale_while_revalidate: 60) { "new" } }
      Rails.application.executor.wrap { after_expiry(&refresh) } # as rails runner does
    RUBY
    assert_equal ["old", "new"], answers
  end

  test "workers forked after boot share the cache" do
    assert_equal ["made by the first", "made by the first", 2], in_rails(<<~RUBY)
      reader, writer = IO.pipe
      answers = %w[first second].map do |name|
        pid = fork do
          writer.puts(Rails.cache.fetch("key") { "made by the \#{name}" })
          Rails.cache.increment("workers")
          exit!(0)
        end
        Process.wait(pid)
        reader.gets.chomp
      end
      [*answers, Rails.cache.read_counter("workers")]
    RUBY
  end

  test "a file that is no cache stops neither the boot nor a request, and the report says why" do
    FileUtils.mkdir_p(File.join(root, "storage/larder/production"))
    File.write(File.join(root, "storage/larder/production/cache.larder"), "not a cache\n" * 1000)
    reports = -> { File.readlines(File.join(root, "log.txt")).grep(%r{production/cache\.larder.*not a Larder cache}) }
    assert_equal 2, in_rails("2.times { Rails.cache.read(1) }; 2", lines: "Shop.config.log_level = :error")
    assert_equal 1, reports.call.size
    early = "EARLY = ActiveSupport::Cache.lookup_store(:larder_store); EARLY.delete(1)"
    output, status = boot("EARLY.delete(2); Rails.logger.class.name", lines: early)
    assert_predicate status, :success?
    assert_match(/\ALarderStore: delete_entry failed, .*: 1 could not be changed: .*not a Larder cache/, output)
    assert_equal 2, reports.call.size # the second as soon as there is a logger
    two = "Rails.logger = ActiveSupport::BroadcastLogger.new(Rails.logger, Logger.new($stdout))"
    output, = boot("#{two}; 2.times { Rails.cache.read(1) }; 3")
    assert_equal [1, 3], [output.scan("not a Larder cache").size, reports.call.size]
  end
end
