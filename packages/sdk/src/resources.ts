import type { BodyOf, CallOptions, DataOf, FilterOf, Operation, QueryOf } from './operations.ts';
import { type FollowOptions, follow } from './pages.ts';
import { resultOf } from './result.ts';
import type { Input, Transport, WriteOptions } from './transport.ts';

/*
 * The operations as methods. What each of them does, its limits and its errors are in the API reference,
 * under the name of the operation.
 */

export function createResources({ send, list }: Transport) {
  const read = <O extends Operation>(operation: O, input?: Input, options?: WriteOptions) =>
    resultOf(send(operation, input, options), (content) => Object(content).data as DataOf<O>);

  return {
    /** Endpoints that receive events. */
    endpoints: {
      /** The response has the signing secret, which is not shown again. */
      register: (body: BodyOf<'registerWebhook'>, options?: WriteOptions) =>
        read('registerWebhook', { body }, options),
      list: (filter?: FilterOf<'listWebhooks'>, options?: CallOptions) =>
        list('listWebhooks', { query: filter ?? {} }, options),
      get: (id: string, options?: CallOptions) => read('readWebhook', { path: { id } }, options),
      update: (id: string, body: BodyOf<'updateWebhook'>, options?: CallOptions) =>
        read('updateWebhook', { path: { id }, body }, options),
      delete: (id: string, options?: CallOptions) => read('deleteWebhook', { path: { id } }, options),
      /** Sends a `webhook.test` event, or an example of another event type. */
      test: (id: string, body?: BodyOf<'testWebhook'>, options?: WriteOptions) =>
        read('testWebhook', { path: { id }, ...(body && { body }) }, options),
      stats: (id: string, query?: QueryOf<'readWebhookStats'>, options?: CallOptions) =>
        read('readWebhookStats', { path: { id }, query: query ?? {} }, options),
    },

    /** Deliveries of events to endpoints. */
    deliveries: {
      list: (endpointId: string, filter?: FilterOf<'listDeliveries'>, options?: CallOptions) =>
        list('listDeliveries', { path: { id: endpointId }, query: filter ?? {} }, options),
      get: (endpointId: string, deliveryId: string, options?: CallOptions) =>
        read('readDelivery', { path: { id: endpointId, deliveryId } }, options),
      /** Attempts a `retrying` delivery now. */
      retry: (endpointId: string, deliveryId: string, options?: WriteOptions) =>
        read('retryDelivery', { path: { id: endpointId, deliveryId } }, options),
      /** Sends the event of a delivery that has ended again. */
      redeliver: (endpointId: string, deliveryId: string, options?: WriteOptions) =>
        read('redeliverDelivery', { path: { id: endpointId, deliveryId } }, options),
      stats: (query?: QueryOf<'readDeliveryStats'>, options?: CallOptions) =>
        read('readDeliveryStats', { query: query ?? {} }, options),
    },

    /** Jobs that resend what failed, or what an endpoint has not received. */
    redeliveries: {
      start: (endpointId: string, body: BodyOf<'startRedelivery'>, options?: WriteOptions) =>
        read('startRedelivery', { path: { id: endpointId }, body }, options),
      list: (endpointId: string, filter?: FilterOf<'listRedeliveries'>, options?: CallOptions) =>
        list('listRedeliveries', { path: { id: endpointId }, query: filter ?? {} }, options),
      get: (endpointId: string, redeliveryId: string, options?: CallOptions) =>
        read('readRedelivery', { path: { id: endpointId, redeliveryId } }, options),
      stop: (endpointId: string, redeliveryId: string, options?: CallOptions) =>
        read('stopRedelivery', { path: { id: endpointId, redeliveryId } }, options),
    },

    /** The events of the last 30 days. */
    events: {
      list: (filter?: FilterOf<'listEvents'>, options?: CallOptions) =>
        list('listEvents', { query: filter ?? {} }, options),
      /** With its payload, and its delivery at each endpoint. */
      get: (id: string, query?: QueryOf<'readEvent'>, options?: CallOptions) =>
        read('readEvent', { path: { id }, query: query ?? {} }, options),
      /**
       * Reads on without an end, in order, each event once, some 15 seconds after it happened. Process a
       * batch, then store its `followCursor`: after a restart the batch that was not stored comes again.
       */
      follow: (
        filter: Omit<FilterOf<'listEvents'>, 'order' | 'to' | 'ids'> = {},
        options: FollowOptions = {},
      ) => follow(list('listEvents', { query: { ...filter, order: 'asc' } }, options), options),
    },

    conversations: {
      create: (body: BodyOf<'createConversation'>, options?: WriteOptions) =>
        read('createConversation', { body }, options),
      list: (filter?: FilterOf<'listConversations'>, options?: CallOptions) =>
        list('listConversations', { query: filter ?? {} }, options),
      get: (id: string, options?: CallOptions) => read('readConversation', { path: { id } }, options),
      update: (id: string, body: BodyOf<'updateConversation'>, options?: CallOptions) =>
        read('updateConversation', { path: { id }, body }, options),
      resolve: (id: string, body: BodyOf<'resolveConversation'>, options?: WriteOptions) =>
        read('resolveConversation', { path: { id }, body }, options),
      /** Hands a conversation over to a human agent. */
      handoff: (id: string, body: BodyOf<'requestHandoff'>, options?: WriteOptions) =>
        read('requestHandoff', { path: { id }, body }, options),
      /** A token with which a visitor's browser reads the conversation and writes in it for 15 minutes. */
      createVisitorToken: (id: string, options?: WriteOptions) =>
        read('createVisitorToken', { path: { id } }, options),
      /** Erases the conversation. */
      delete: (id: string, options?: CallOptions) => read('deleteConversation', { path: { id } }, options),
      messages: {
        create: (conversationId: string, body: BodyOf<'createMessage'>, options?: WriteOptions) =>
          read('createMessage', { path: { id: conversationId }, body }, options),
        list: (conversationId: string, filter?: FilterOf<'listMessages'>, options?: CallOptions) =>
          list('listMessages', { path: { id: conversationId }, query: filter ?? {} }, options),
        get: (conversationId: string, messageId: string, options?: CallOptions) =>
          read('readMessage', { path: { id: conversationId, messageId } }, options),
      },
      escalations: {
        list: (conversationId: string, filter?: FilterOf<'listEscalations'>, options?: CallOptions) =>
          list('listEscalations', { path: { id: conversationId }, query: filter ?? {} }, options),
        get: (conversationId: string, escalationLogId: string, options?: CallOptions) =>
          read('readEscalation', { path: { id: conversationId, escalationLogId } }, options),
      },
    },

    channels: {
      /** The response for an `http` channel has its signing secret, which is not shown again. */
      create: (body: BodyOf<'createChannel'>, options?: WriteOptions) =>
        read('createChannel', { body }, options),
      list: (filter?: FilterOf<'listChannels'>, options?: CallOptions) =>
        list('listChannels', { query: filter ?? {} }, options),
      get: (id: string, options?: CallOptions) => read('readChannel', { path: { id } }, options),
      /** `paused: false` also resumes a disabled channel, and resends what it has missed. */
      update: (id: string, body: BodyOf<'updateChannel'>, options?: CallOptions) =>
        read('updateChannel', { path: { id }, body }, options),
      delete: (id: string, options?: CallOptions) => read('deleteChannel', { path: { id } }, options),
      /** Sends a `channel.test` event. */
      test: (id: string, options?: WriteOptions) => read('testChannel', { path: { id } }, options),
      stats: (id: string, query?: QueryOf<'readChannelStats'>, options?: CallOptions) =>
        read('readChannelStats', { path: { id }, query: query ?? {} }, options),
      deliveries: {
        list: (channelId: string, filter?: FilterOf<'listChannelDeliveries'>, options?: CallOptions) =>
          list('listChannelDeliveries', { path: { id: channelId }, query: filter ?? {} }, options),
        get: (channelId: string, deliveryId: string, options?: CallOptions) =>
          read('readChannelDelivery', { path: { id: channelId, deliveryId } }, options),
        /** Attempts a `retrying` delivery now. */
        retry: (channelId: string, deliveryId: string, options?: WriteOptions) =>
          read('retryChannelDelivery', { path: { id: channelId, deliveryId } }, options),
        /** Sends the message of a delivery that has ended again. */
        redeliver: (channelId: string, deliveryId: string, options?: WriteOptions) =>
          read('redeliverChannelDelivery', { path: { id: channelId, deliveryId } }, options),
      },
      redeliveries: {
        start: (channelId: string, body: BodyOf<'startChannelRedelivery'>, options?: WriteOptions) =>
          read('startChannelRedelivery', { path: { id: channelId }, body }, options),
        list: (channelId: string, filter?: FilterOf<'listChannelRedeliveries'>, options?: CallOptions) =>
          list('listChannelRedeliveries', { path: { id: channelId }, query: filter ?? {} }, options),
        get: (channelId: string, redeliveryId: string, options?: CallOptions) =>
          read('readChannelRedelivery', { path: { id: channelId, redeliveryId } }, options),
        stop: (channelId: string, redeliveryId: string, options?: CallOptions) =>
          read('stopChannelRedelivery', { path: { id: channelId, redeliveryId } }, options),
      },
    },

    contacts: {
      /** Erases all conversations of an external user. Repeat the call while it fails with status 503. */
      delete: (externalUserId: string, options?: CallOptions) =>
        read('deleteContact', { path: { externalUserId } }, options),
    },

    /** Receipts of erasures. */
    erasures: {
      get: (id: string, options?: CallOptions) => read('readErasure', { path: { id } }, options),
    },

    tickets: {
      create: (body: BodyOf<'createTicket'>, options?: WriteOptions) =>
        read('createTicket', { body }, options),
      list: (filter?: FilterOf<'listTickets'>, options?: CallOptions) =>
        list('listTickets', { query: filter ?? {} }, options),
      get: (id: string, options?: CallOptions) => read('readTicket', { path: { id } }, options),
      update: (id: string, body: BodyOf<'updateTicket'>, options?: CallOptions) =>
        read('updateTicket', { path: { id }, body }, options),
    },

    /** Content that the organization's assistant answers from. */
    sources: {
      create: (body: BodyOf<'createSource'>, options?: WriteOptions) =>
        read('createSource', { body }, options),
      list: (filter?: FilterOf<'listSources'>, options?: CallOptions) =>
        list('listSources', { query: filter ?? {} }, options),
      get: (id: string, options?: CallOptions) => read('readSource', { path: { id } }, options),
      delete: (id: string, options?: CallOptions) => read('deleteSource', { path: { id } }, options),
      /** The imported text; 404 before the first import. */
      content: (id: string, options?: CallOptions) => read('readSourceContent', { path: { id } }, options),
      changes: (id: string, options?: CallOptions) => read('readSourceChanges', { path: { id } }, options),
      /** Checks the source now. */
      sync: (id: string, options?: WriteOptions) => read('syncSource', { path: { id } }, options),
    },
  };
}
