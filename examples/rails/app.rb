require "logger"
require "rails"
require "action_controller/railtie"
require "active_job/railtie"
require_relative "verify"

# One signing secret, or several separated by spaces while one replaces another.
SECRETS = ENV.fetch("WEBHOOK_SECRET", "").split
abort "WEBHOOK_SECRET is not set." if SECRETS.empty?

class Receiver < Rails::Application
  config.load_defaults Rails::VERSION::STRING.to_f
  config.api_only = true
  config.eager_load = true
  config.consider_all_requests_local = false
  config.secret_key_base = ENV.fetch("SECRET_KEY_BASE") { SecureRandom.hex(64) }
  config.logger = Logger.new($stdout, level: Logger::INFO, formatter: ->(_, _, _, text) { "#{text}\n" })
  # Bodies have texts of users: the log has none of them.
  config.filter_parameters += [/./]
  # The events and jobs of this process only. In production use Redis or Memcached, and a job queue
  # that survives a restart (Solid Queue, Sidekiq).
  config.cache_store = :memory_store
  config.active_job.queue_adapter = :async

  routes.append { post "/webhooks", to: "webhooks#create" }
end

class WebhooksController < ActionController::API
  MAX_BODY_BYTES = 1024 * 1024

  # Answers 204 to a signed event, and processes it afterwards, once.
  def create
    return head 413 if request.content_length > MAX_BODY_BYTES

    body = request.raw_post
    id, timestamp, signatures = %w[id timestamp signature].map { |name| request.headers["webhook-#{name}"] }
    unless SECRETS.any? { |secret| genuine?(secret, id, timestamp, signatures, body) }
      logger.warn "Refused a request without a valid signature"
      return head 400
    end
    enqueue id, JSON.parse(body, symbolize_names: true)
    head 204
  end

  private

  def enqueue(id, event)
    key = "webhooks/#{id}"
    return unless Rails.cache.write(key, true, unless_exist: true, expires_in: 30.days)

    ProcessEventJob.perform_later(id, event)
  rescue StandardError
    # The answer is 500: the event is delivered again.
    Rails.cache.delete(key)
    raise
  end
end

class ProcessEventJob < ActiveJob::Base
  self.log_arguments = false

  def perform(id, event)
    case event
    in { type: "message.received", data: { messageId: String => message, role: String => role } }
      logger.info "Message #{message} by #{role}"
    in { type: "handoff.requested", data: { conversationId: String => conversation } }
      logger.info "Handoff of conversation #{conversation}"
    else # New types are added without notice: ignore those that you do not use.
    end
    logger.info "Processed #{id} #{event[:type]}"
  end
end

Rails.application.initialize!
