# frozen_string_literal: true

# Loads activerecord-session_store, which expects Rails' own session stores to be there.

require "action_dispatch"
require "activerecord/session_store"
