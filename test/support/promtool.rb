# frozen_string_literal: true

require "open3"

# The program that comes with Prometheus (Debian's package prometheus).
module Promtool
  MISSING = "promtool is not installed: apt-get install --no-install-recommends prometheus"

  module_function

  # @return [Boolean]
  def there?
    ENV.fetch("PATH", "").split(File::PATH_SEPARATOR).any? { |place| File.executable?(File.join(place, "promtool")) }
  end

  # @return [Array(String, Process::Status)] what it printed, and how it ended
  def run(*words, **options)
    Open3.capture2e("promtool", *words, **options)
  end
end
