# frozen_string_literal: true

# Installs Debian packages, where this is Debian and we are root. Nothing else in rakelib/ does.

require_relative "environment"

module House
  # apt-get, for packages that start no service.
  module Debian
    APT = ["apt-get", "-qq", "-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=300"].freeze
    private_constant :APT

    module_function

    # @return [Boolean] whether #install can work here
    def packages?
      Environment.root? && Environment.program?("apt-get")
    end

    # @param names [Array<String>]
    # @return [Boolean] whether all are there now
    def install(names)
      run("update") && run("install", "--yes", "--no-install-recommends", *names)
    end

    def run(*words)
      system({ "DEBIAN_FRONTEND" => "noninteractive" }, *APT, *words, in: File::NULL, out: File::NULL)
    end
    private_class_method :run
  end
end
