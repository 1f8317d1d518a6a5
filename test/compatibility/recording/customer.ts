import { setTimeout as sleep } from 'node:timers/promises';

/** Variables in the `env` file of the local run; earlier versions have fewer. */
export type Environment = Readonly<Record<string, string | undefined>>;

interface Answer {
  status: number;
  data: Record<string, unknown> & { id?: string };
  nextCursor?: string | undefined;
}

/** A token or cursor from the API that must stay valid for later calls. */
export interface GivenOut {
  kind: 'cursor' | 'visitor-token';
  route: string;
  value: string;
}

/** Calls the public API, which all versions have in common. A 404 means that the version lacks the route. */
export function customer(environment: Environment) {
  const given: GivenOut[] = [];

  async function call(
    method: string,
    path: string,
    body?: unknown,
    token = environment.API_KEY,
  ): Promise<Answer> {
    const answer = await fetch(`${environment.BASE_URL}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(method === 'POST' ? { 'idempotency-key': crypto.randomUUID() } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { data = {}, nextCursor } = (await answer.json().catch(() => ({}))) as Partial<Answer>;
    if (typeof nextCursor === 'string') given.push({ kind: 'cursor', route: path, value: nextCursor });
    return { status: answer.status, data, nextCursor };
  }

  const v1 = (method: string, path: string, body?: unknown, token?: string) =>
    call(method, `/api/v1${path}`, body, token);
  const settings = (method: string, path: string, body?: unknown) =>
    call(method, `/api/settings${path}`, body, environment.ADMIN_TOKEN);

  async function converse(token?: string, channelId = 'web'): Promise<string> {
    const { data } = await v1('POST', '/conversations', { channelId, externalUserId: 'ada' }, token);
    const at = `/conversations/${data.id}`;
    for (const role of ['user', 'agent'])
      await v1('POST', `${at}/messages`, { role, content: 'Hello' }, token);
    await v1('POST', `${at}/handoff`, { reason: 'They ask for a person.' }, token);
    await v1('POST', '/tickets', { conversationId: data.id, reason: 'It is broken.' }, token);
    return at;
  }

  return {
    given,

    /** An endpoint for all event types. */
    async subscribe(url: string, token?: string): Promise<string> {
      const events = [
        'conversation.created',
        'message.received',
        'handoff.requested',
        'ticket.created',
        'conversation.resolved',
      ];
      const { data } = await v1('POST', '/webhooks', { url, events }, token);
      return `/webhooks/${data.id}`;
    },

    /** Makes rows of all remaining kinds. */
    async doEverything(receiver: string): Promise<void> {
      const good = await this.subscribe(`${receiver}/200`);
      await this.subscribe(`${receiver}/503`);
      const gone = await this.subscribe(`${receiver}/410`);
      const at = await converse();
      await converse();
      await v1('POST', `${at}/resolve`, { resolvedBy: 'ada' });
      await v1('POST', `${good}/test`);
      await v1('DELETE', gone);
      // A version without the limit ignores it.
      await v1('PATCH', good, { maxPerSecond: 1000, description: 'Helpdesk' });
      await settings('PATCH', '/organization', {
        contentChangeThreshold: 1,
        contentChangeNotifications: true,
      });
      const { data: key } = await settings('POST', '/api-keys', {
        name: 'Reporting',
        scopes: ['read:conversations'],
      });
      await settings('POST', '/api-keys', { name: 'More', scopes: ['read:conversations'] });
      await settings('DELETE', `/api-keys/${key.id}`);
      const { data: source } = await v1('POST', '/knowledge/sources', {
        kind: 'url',
        url: `${receiver}/page`,
      });
      const { data: channel } = await v1('POST', '/channels', {
        kind: 'http',
        name: 'Shop',
        url: `${receiver}/200`,
      });
      if (channel.id !== undefined) await converse(undefined, channel.id);
      const { data: widget } = await v1('POST', '/channels', { kind: 'web_widget', name: 'Widget' });
      if (widget.id !== undefined) {
        const visited = await converse(undefined, widget.id);
        const { data } = await v1('POST', `${visited}/visitor-token`);
        const value = data.token ?? data.visitorToken;
        if (typeof value === 'string') given.push({ kind: 'visitor-token', route: visited, value });
      }
      for (const list of ['/conversations', `${at}/messages`, '/tickets', '/webhooks', `${good}/deliveries`])
        await v1('GET', `${list}?limit=1`);
      const { data: deliveries } = await v1('GET', `${good}/deliveries?limit=50`);
      await sleep(1500);
      for (const { id } of Array.isArray(deliveries) ? deliveries.slice(0, 1) : [])
        await v1('POST', `${good}/deliveries/${id}/redeliver`);
      const from = new Date(Date.now() - 3_600_000).toISOString();
      await v1('POST', `${good}/redeliveries`, { from });
      await v1('POST', `${await this.subscribe(`${receiver}/200`)}/redeliveries`, { what: 'missing', from });
      for (let times = 0; times < 2 && source.id !== undefined; times += 1) {
        await sleep(1500);
        await v1('POST', `/knowledge/sources/${source.id}/sync`);
      }
    },

    /** The same in the sandbox, at a simulated speed, with a reset at the end. */
    async playInSandbox(): Promise<void> {
      const token = environment.SANDBOX_API_KEY;
      if (token === undefined) return;
      await this.subscribe('https://example.com/?simulate=503,timeout,200&simulate-speed=3600', token);
      await this.subscribe('https://example.com/?simulate=500&simulate-speed=10', token);
      await converse(token);
      await v1('POST', '/knowledge/sources', { kind: 'url', url: 'https://example.com/' }, token);
      await sleep(3000);
      await settings('POST', '/sandbox/reset');
      await converse(token);
    },

    /** Enough failures to disable the endpoint. */
    async converseOften(): Promise<void> {
      for (let times = 0; times < 3; times += 1) await converse();
    },

    /** A redelivery job that has hardly started when all processes are killed. */
    async beginRedelivery(receiver: string): Promise<void> {
      const endpoint = await this.subscribe(`${receiver}/200`);
      await v1('POST', `${endpoint}/redeliveries`, { from: new Date(Date.now() - 3_600_000).toISOString() });
    },
  };
}
