# frozen_string_literal: true

# The list of proofs, in the order in which they run.

Dir[File.expand_path("../proofs/*.rb", __dir__)].each { |file| require file }

module Proof
  # All proofs.
  module Catalogue
    # name on the command line => class
    ALL = [
      Contract, Coverage, CrashPoints, Environment, Faults, ForeignApplications, Fuzzing, Interleave, Linear, Machines,
      Matrix, Models, PowerLoss, Resources, Security, Sessions, Soak
    ].to_h { |proof| [proof::NAME, proof] }.freeze
  end
end
