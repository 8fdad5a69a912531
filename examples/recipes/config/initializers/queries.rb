# frozen_string_literal: true

# Counts the queries of each request, for the foot of its page.

ActiveSupport::Notifications.subscribe("sql.active_record") do |_name, _start, _finish, _id, payload|
  Current.query! unless payload[:cached] || payload[:name] == "SCHEMA"
end
