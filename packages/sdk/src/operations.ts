import type { components, operations } from './schema.gen.ts';

/** An operation of the API, by its `operationId`; not the requests that receivers get. */
export type Operation = Exclude<keyof operations, `receive${string}Event`>;

type Json<Content> = Content extends { content: { 'application/json': infer Value } } ? Value : undefined;
type Responses<O extends Operation> = operations[O]['responses'];

/** Body of a successful response; undefined for 204. */
export type ResponseOf<O extends Operation> = Json<
  Responses<O>[keyof Responses<O> & (200 | 201 | 202 | 204)]
>;
/** The resource of a successful response. */
export type DataOf<O extends Operation> = ResponseOf<O> extends { data: infer Data } ? Data : undefined;
/** An item of a list. */
export type ItemOf<O extends Operation> = DataOf<O> extends readonly (infer Item)[] ? Item : never;

export type BodyOf<O extends Operation> = Json<NonNullable<operations[O]['requestBody']>>;
export type QueryOf<O extends Operation> = NonNullable<operations[O]['parameters']['query']>;
/** Parameters that take several values, which a request separates with commas. */
interface Lists {
  type: components['schemas']['Event']['type'];
  eventType: components['schemas']['Event']['type'];
  status: components['schemas']['Delivery']['status'];
}
/** What narrows a list. Its pages are read with `limit` items each. */
export type FilterOf<O extends Operation> = {
  [Name in keyof QueryOf<O> as Exclude<Name, 'cursor'>]?: Name extends keyof Lists
    ? QueryOf<O>[Name] | readonly Lists[Name][]
    : QueryOf<O>[Name];
};

/** Method and path of every operation. */
export const ROUTES = {
  registerWebhook: 'POST /api/v1/webhooks',
  listWebhooks: 'GET /api/v1/webhooks',
  readWebhook: 'GET /api/v1/webhooks/{id}',
  updateWebhook: 'PATCH /api/v1/webhooks/{id}',
  deleteWebhook: 'DELETE /api/v1/webhooks/{id}',
  testWebhook: 'POST /api/v1/webhooks/{id}/test',
  readWebhookStats: 'GET /api/v1/webhooks/{id}/stats',
  listDeliveries: 'GET /api/v1/webhooks/{id}/deliveries',
  readDelivery: 'GET /api/v1/webhooks/{id}/deliveries/{deliveryId}',
  retryDelivery: 'POST /api/v1/webhooks/{id}/deliveries/{deliveryId}/retry',
  redeliverDelivery: 'POST /api/v1/webhooks/{id}/deliveries/{deliveryId}/redeliver',
  readDeliveryStats: 'GET /api/v1/deliveries/stats',
  startRedelivery: 'POST /api/v1/webhooks/{id}/redeliveries',
  listRedeliveries: 'GET /api/v1/webhooks/{id}/redeliveries',
  readRedelivery: 'GET /api/v1/webhooks/{id}/redeliveries/{redeliveryId}',
  stopRedelivery: 'DELETE /api/v1/webhooks/{id}/redeliveries/{redeliveryId}',
  listEvents: 'GET /api/v1/events',
  readEvent: 'GET /api/v1/events/{id}',
  createConversation: 'POST /api/v1/conversations',
  listConversations: 'GET /api/v1/conversations',
  readConversation: 'GET /api/v1/conversations/{id}',
  resolveConversation: 'POST /api/v1/conversations/{id}/resolve',
  createMessage: 'POST /api/v1/conversations/{id}/messages',
  listMessages: 'GET /api/v1/conversations/{id}/messages',
  readMessage: 'GET /api/v1/conversations/{id}/messages/{messageId}',
  requestHandoff: 'POST /api/v1/conversations/{id}/handoff',
  listEscalations: 'GET /api/v1/conversations/{id}/escalations',
  readEscalation: 'GET /api/v1/conversations/{id}/escalations/{escalationLogId}',
  createVisitorToken: 'POST /api/v1/conversations/{id}/visitor-token',
  createChannel: 'POST /api/v1/channels',
  listChannels: 'GET /api/v1/channels',
  readChannel: 'GET /api/v1/channels/{id}',
  deleteChannel: 'DELETE /api/v1/channels/{id}',
  listChannelDeliveries: 'GET /api/v1/channels/{id}/deliveries',
  readChannelDelivery: 'GET /api/v1/channels/{id}/deliveries/{deliveryId}',
  createTicket: 'POST /api/v1/tickets',
  listTickets: 'GET /api/v1/tickets',
  readTicket: 'GET /api/v1/tickets/{id}',
  createSource: 'POST /api/v1/knowledge/sources',
  listSources: 'GET /api/v1/knowledge/sources',
  readSource: 'GET /api/v1/knowledge/sources/{id}',
  deleteSource: 'DELETE /api/v1/knowledge/sources/{id}',
  readSourceChanges: 'GET /api/v1/knowledge/sources/{id}/changes',
  syncSource: 'POST /api/v1/knowledge/sources/{id}/sync',
  readWidgetMessages: 'GET /api/v1/widget/messages',
} as const satisfies Record<Operation, `${string} /api/v1/${string}`>;
