import { type Caller, type Callers, markOf, ownerOf, Violation } from './caller.ts';
import type { Thing, World } from './world.ts';

/** The operations of callers with keys, on their own resources and on those of others. */
export function data(world: World, { call, callOn, list }: Callers, receiver: string) {
  /** Stores the path of a resource that an answer has named. */
  function at(id: string, path: string): void {
    const thing = world.things.get(id);
    if (thing !== undefined) thing.path = path;
  }

  const own = (caller: Caller, kind: string, below: string) => () =>
    [...world.things.values()].filter(
      (thing) =>
        thing.kind === kind && thing.owner === ownerOf(thing.id, caller) && thing.path.startsWith(below),
    );

  async function create(caller: Caller, path: string, body: unknown, once?: string): Promise<void> {
    const { status, data: made } = await call(caller, 'POST', path, {
      body,
      ...(once === undefined ? {} : { once }),
    });
    // Of several calls with one idempotency key at once, only the first is sure to be reported.
    if (status === 401 || (once !== undefined && status === 409)) return;
    if (status !== 201) throw new Violation(`${markOf(caller)} was answered ${status} by POST ${path}`);
    at(Object(made).id, `${path}/${Object(made).id}`);
  }

  async function listed(
    caller: Caller,
    kind: string,
    path: string,
    limit: number,
    parent?: Thing,
  ): Promise<void> {
    const expected = own(caller, kind, `${path}/`);
    const items = await list(caller, path, { limit, expected, ...(parent === undefined ? {} : { parent }) });
    for (const { id } of items) at(id, `${path}/${id}`);
  }

  return {
    /** @param once an idempotency key that others may use as well */
    createConversation: (caller: Caller, once: string | undefined) =>
      create(caller, '/v1/conversations', { channelId: markOf(caller), externalUserId: 'somebody' }, once),
    listConversations: (caller: Caller, limit: number) => listed(caller, 'cnv', '/v1/conversations', limit),
    register: (caller: Caller, once: string) =>
      create(
        caller,
        '/v1/webhooks',
        {
          url: `${receiver}/${markOf(caller)}?simulate=200`,
          events: ['conversation.created', 'message.received'],
        },
        once,
      ),
    listWebhooks: (caller: Caller, limit: number) => listed(caller, 'whk', '/v1/webhooks', limit),

    read: (caller: Caller, thing: Thing) => callOn(caller, thing, ['GET', thing.path], 200),

    async createMessage(caller: Caller, conversation: Thing): Promise<void> {
      const path = `${conversation.path}/messages`;
      const body = { role: 'user', content: markOf(caller) };
      const made = await callOn(caller, conversation, ['POST', path], 201, { body });
      if (made !== undefined) at(Object(made.data).id, `${path}/${Object(made.data).id}`);
    },

    /** A listing below a resource: messages of a conversation, deliveries of an endpoint. */
    listBelow: (caller: Caller, parent: Thing, limit: number) =>
      parent.kind === 'cnv'
        ? listed(caller, 'msg', `${parent.path}/messages`, limit, parent)
        : listed(caller, 'dlv', `${parent.path}/deliveries`, limit, parent),

    async testWebhook(caller: Caller, webhook: Thing, once: string): Promise<void> {
      const made = await callOn(caller, webhook, ['POST', `${webhook.path}/test`], 202, { once });
      const delivery = world.things.get(Object(made?.data).deliveryId);
      if (delivery === undefined) return;
      // The delivery appears a moment later, unless a reset or a deletion comes first.
      delivery.last = undefined;
      delivery.path = `${webhook.path}/deliveries/${delivery.id}`;
    },

    update: (caller: Caller, webhook: Thing) =>
      callOn(caller, webhook, ['PATCH', webhook.path], 200, { body: { events: ['message.received'] } }),

    async remove(caller: Caller, webhook: Thing): Promise<void> {
      const deletion = { from: world.tick(), to: Number.POSITIVE_INFINITY };
      const isOwn = webhook.owner === ownerOf(webhook.id, caller);
      if (isOwn) webhook.deleted ??= deletion;
      const { status, span } = await call(caller, 'DELETE', webhook.path);
      if (status === 401) return;
      if (status !== 204)
        throw new Violation(`${markOf(caller)} was answered ${status} by DELETE ${webhook.path}`);
      if (isOwn && webhook.deleted !== undefined) webhook.deleted.to = Math.min(webhook.deleted.to, span.to);
    },
  };
}
