# frozen_string_literal: true

# Loads Larder's session store, which no application of the lab's brings by itself.

require "action_dispatch"
require "action_dispatch/middleware/session/larder_store"
