# frozen_string_literal: true

# Times calls of Rails stores while a program watches the application, as its users have it: its own gem, set up by its
# own instructions, which makes spans inside a trace of a request. What it makes is not sent anywhere.
#
# usage: measure.rb MONITOR ROUNDS CALLS DIRECTORY; prints JSON lines: figure, unit, the values of the rounds

require "json"
require "logger"
require "tmpdir"
require "active_support/all"
require "active_support/cache/larder_store"
require "active_support/cache/memory_store"

# How each is set up, and a block run inside a request.
module Monitors
  # What tracers that only wrap methods do: every call then takes the ordinary path of a store.
  Wrapper = Module.new do
    [:fetch, :read, :write, :read_multi].each do |name|
      define_method(name) { |*arguments, **options, &block| super(*arguments, **options, &block) }
    end
  end

  CACHE_EVENTS = %w[read write read_multi fetch_hit generate].map { |name| "cache_#{name}.active_support" }.freeze

  module_function

  # @return [Proc] runs a block inside a request
  def wrapper
    ActiveSupport::Cache::Store.prepend(Wrapper)
    :call.to_proc
  end

  def datadog
    require "datadog"
    Datadog.configure do |config|
      config.logger.instance = Logger.new(nil)
      config.telemetry.enabled = config.remote.enabled = false
      config.tracing.test_mode.enabled = true
      config.tracing.test_mode.writer_options = { transport: Discard.new }
      config.tracing.instrument(:active_support)
    end
    ->(block) { Datadog::Tracing.trace("request") { block.call } }
  end

  # Takes what Datadog's writer would send.
  class Discard
    def send_traces(_traces) = []
    def stats = nil
  end

  def sentry
    require "sentry-rails"
    require "sentry/rails/tracing"
    require "sentry/rails/tracing/active_support_subscriber"
    Rails.logger = Logger.new(nil)
    Sentry.init do |config|
      config.dsn = "http://key@127.0.0.1:9/1"
      config.sdk_logger = Logger.new(nil)
      config.traces_sample_rate = 1.0
      config.background_worker_threads = 0
      config.transport.transport_class = Sentry::DummyTransport
    end
    Sentry::Rails::Tracing.register_subscribers([Sentry::Rails::Tracing::ActiveSupportSubscriber])
    Sentry::Rails::Tracing.patch_active_support_notifications
    Sentry::Rails::Tracing.subscribe_tracing_events
    method(:sentry_request).to_proc
  end

  def sentry_request(block)
    transaction = Sentry.start_transaction(name: "request", op: "http.server")
    Sentry.get_current_scope.set_span(transaction)
    block.call
    transaction.finish
  end

  def opentelemetry
    require "opentelemetry/sdk"
    require "opentelemetry-instrumentation-active_support"
    OpenTelemetry.logger = Logger.new(nil)
    OpenTelemetry::SDK.configure do |config|
      config.use("OpenTelemetry::Instrumentation::ActiveSupport")
      config.add_span_processor(OpenTelemetry::SDK::Trace::SpanProcessor.new)
    end
    tracer = OpenTelemetry.tracer_provider.tracer("larder", "1")
    CACHE_EVENTS.each { |event| OpenTelemetry::Instrumentation::ActiveSupport.subscribe(tracer, event) }
    ->(block) { tracer.in_span("request") { block.call } }
  end
end

# A Rails store that has the entry at once: what a call costs with any store that leaves Rails' methods alone.
class Floor < ActiveSupport::Cache::Store
  private

  def read_entry(_key, **) = @first

  def write_entry(_key, entry, **)
    @first ||= entry
    true
  end
end

VALUE = "v" * 100
NAMES = Array.new(50) { |i| ["key", i] }
CALLS = {
  "fetch" => ->(store, i) { store.fetch(["key", i % 50], expires_in: 300) { raise "a miss" } },
  "read" => ->(store, i) { store.read(["key", i % 50]) || raise("a miss") },
  "write" => ->(store, i) { store.write(["key", i % 50], VALUE, expires_in: 300) || raise("refused") },
  "read_multi of 50" => ->(store, _i) { store.read_multi(*NAMES).size == 50 || raise("a miss") }
}.freeze

def seconds_of(request, store, call, count)
  taken = nil
  GC.start
  request.call(lambda do
    started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    count.times { |i| call.call(store, i) }
    taken = Process.clock_gettime(Process::CLOCK_MONOTONIC) - started
  end)
  taken / count
end

monitor, rounds, count, directory = ARGV
request = Monitors.public_send(monitor)
Dir.mktmpdir("larder-monitors", directory) do |place|
  stores = { "larder" => ActiveSupport::Cache::LarderStore.new(File.join(place, "larder"), size: 16 << 20),
             "memory" => ActiveSupport::Cache::MemoryStore.new, "floor" => Floor.new }
  stores.each_value { |store| NAMES.each { |name| store.write(name, VALUE) } }
  CALLS.each do |title, call|
    times = title.end_with?("50") ? Integer(count) / 20 : Integer(count)
    found = Array.new(Integer(rounds)) do
      stores.to_a.shuffle.to_h.transform_values { |store| seconds_of(request, store, call, times) }
    end
    puts JSON.generate(call: title, seconds: stores.to_h { |name, _| [name, found.map { |round| round[name] }] })
  end
end
