# frozen_string_literal: true

# Puma on loopback: PORT (3000), WEB_CONCURRENCY processes (none but itself), RAILS_MAX_THREADS each (3), and
# RECIPES_GREETING to print as soon as it answers.

require_relative "../lib/recipes"

port = Integer(ENV.fetch("PORT", 3000))
count = Integer(ENV.fetch("RAILS_MAX_THREADS", 3))

bind "tcp://127.0.0.1:#{port}"
workers Integer(ENV.fetch("WEB_CONCURRENCY", 0))
threads count, count
environment ENV.fetch("RAILS_ENV", "production")
pidfile Recipes.storage("pids/puma-#{port}.pid")
preload_app!
silence_single_worker_warning
raise_exception_on_sigterm false # told to end is no error

if (greeting = ENV.fetch("RECIPES_GREETING", nil))
  after_booted { $stdout.puts(greeting) || $stdout.flush }
  after_stopped { $stdout.puts("Ended. What was kept is in #{Recipes.storage}.") || $stdout.flush }
end
