import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type RouteKey, routes } from '../../../functions/api/routes.ts';
import { OrgId } from '../../../functions/aws/ids.ts';
import type { Route } from '../../../functions/http/route.ts';
import { hashApiKey, Scope } from '../../../functions/tenancy/api-keys.ts';
import { AuditEntry } from '../../../functions/tenancy/audit.ts';
import { linesWithCredentials } from '../../support/canaries.ts';
import { casesOf } from '../../support/cases.ts';
import type { Call, Caller, Data } from '../store/api-handlers.ts';
import { cancelTransactions } from '../store/faults.ts';
import { rowsIn } from '../store/rows.ts';
import { useApi } from './owners.ts';

/*
 * Every change of the set-up through the functions of all routes, and the entries that it leaves. The table
 * of cases must have every route that declares an action.
 */
const { tables, api, enrol } = useApi();
/** Everything that responses have revealed. */
const revealed: string[] = [];

/** A live organization with a key and an admin, and its sandbox. */
async function anOrganization() {
  const { orgId, key, secret, ...callers } = await enrol();
  revealed.push(secret);
  const admin = recording(callers.admin);
  const terms = { name: 'All', scopes: [...Scope.options] };
  return {
    orgId,
    admin,
    keyId: String(key.id),
    call: recording(callers.call),
    async sandbox() {
      const provisioned = await admin('provisionSandbox', { body: terms });
      const { id, secretOnce } = Object(provisioned.key);
      return {
        orgId: OrgId.parse(provisioned.sandboxOrganizationId),
        keyId: String(id),
        call: recording(api.caller(String(secretOnce))),
      };
    },
  };
}
type TestOrganization = Awaited<ReturnType<typeof anOrganization>>;

const recording =
  (caller: Caller): Caller =>
  async (route, call) => {
    const data = await caller(route, call);
    for (const name of ['secret', 'secretOnce', 'token'])
      for (const { [name]: secret } of [data, Object(data.key)])
        if (typeof secret === 'string') revealed.push(secret);
    return data;
  };

/** The stored entries of an organization, oldest first. */
async function entriesOf(orgId: string): Promise<AuditEntry[]> {
  const rows = (await rowsIn(tables.service)).filter(({ pk }) =>
    String(pk).startsWith(`${orgId}#audit-log#`),
  );
  return rows.map((row) => AuditEntry.parse(row)).toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

/** Runs calls and returns the entries that they leave. */
async function added(orgId: string, act: () => Promise<unknown>): Promise<AuditEntry[]> {
  const before = new Set((await entriesOf(orgId)).map(({ id }) => id));
  await act();
  return (await entriesOf(orgId)).filter(({ id }) => !before.has(id));
}

const URL = 'https://example.com/hooks';
const MOVED = 'https://example.org/hooks';
const events = ['ticket.created'];
const created = (fields: object) =>
  Object.entries(fields).map(([field, after]) => ({ field, before: null, after }));
const deleted = (fields: object) =>
  Object.entries(fields).map(([field, before]) => ({ field, before, after: null }));
const idOf = async (data: Promise<Data>): Promise<string> => String((await data).id);
const to = (id: string): Call => ({ params: { id } });

interface Case {
  /** Prepares what the call changes. */
  prepare?(organization: TestOrganization): Promise<Call>;
  call?: Call;
  /** The target's id, when it is not what the call creates. */
  target?(organization: TestOrganization, call: Call): string;
  changes: unknown;
}

const webhook = async ({ call }: TestOrganization) =>
  idOf(call('registerWebhook', { body: { url: URL, events } }));
const channel = async ({ call }: TestOrganization) =>
  idOf(call('createChannel', { body: { kind: 'http', name: 'Shop', url: URL } }));
const param = (_: TestOrganization, { params }: Call): string => params?.redeliveryId ?? params?.id ?? '';
const anyTime = expect.stringMatching(/^\d{4}-.*Z$/);

const CONVERSATION = { channelId: 'web', externalUserId: 'ada' };
const ERASURE_ID: string = expect.stringMatching(/^era_/);
const erasedOne = [{ field: 'conversationIds', before: [expect.stringMatching(/^cnv_/)], after: null }];

/** A job that runs, and how it is stopped. */
const running =
  (receiver: typeof webhook, start: 'startRedelivery' | 'startChannelRedelivery') =>
  async (it: TestOrganization): Promise<Call> => {
    const id = await receiver(it);
    const body = { from: new Date(Date.now() - 60_000).toISOString() };
    return { params: { id, redeliveryId: await idOf(it.call(start, { ...to(id), body })) } };
  };
const stopped = [{ field: 'status', before: 'running', after: 'stopped' }];

/** One change of each route that declares an action. A route without a case fails a test below. */
const CASES: Partial<Record<RouteKey, Case>> = {
  registerWebhook: { call: { body: { url: URL, events } }, changes: created({ url: URL, events }) },
  updateWebhook: {
    prepare: async (it) => ({ ...to(await webhook(it)), body: { url: MOVED, events } }),
    target: param,
    changes: [{ field: 'url', before: URL, after: MOVED }],
  },
  deleteWebhook: {
    prepare: async (it) => to(await webhook(it)),
    target: param,
    changes: deleted({ url: URL, events }),
  },
  startRedelivery: {
    prepare: async (it) => ({
      ...to(await webhook(it)),
      body: { what: 'missing', from: '2026-01-01T00:00:00.000Z' },
    }),
    changes: expect.arrayContaining(created({ what: 'missing' })),
  },
  stopRedelivery: { prepare: running(webhook, 'startRedelivery'), target: param, changes: stopped },
  deleteConversation: {
    prepare: async ({ call }) => to(await idOf(call('createConversation', { body: CONVERSATION }))),
    target: () => ERASURE_ID,
    changes: erasedOne,
  },
  deleteContact: {
    async prepare({ call }) {
      await call('createConversation', { body: CONVERSATION });
      return { params: { externalUserId: CONVERSATION.externalUserId } };
    },
    target: () => ERASURE_ID,
    changes: erasedOne,
  },
  createChannel: {
    call: { body: { kind: 'http', name: 'Shop', url: URL } },
    changes: created({ kind: 'http', name: 'Shop', url: URL }),
  },
  updateChannel: {
    prepare: async (it) => ({ ...to(await channel(it)), body: { url: MOVED, name: 'Shop' } }),
    target: param,
    changes: [{ field: 'url', before: URL, after: MOVED }],
  },
  startChannelRedelivery: {
    prepare: async (it) => ({ ...to(await channel(it)), body: { from: '2026-01-01T00:00:00.000Z' } }),
    changes: expect.arrayContaining(created({ what: 'failed', channelId: expect.stringMatching(/^chn_/) })),
  },
  stopChannelRedelivery: {
    prepare: running(channel, 'startChannelRedelivery'),
    target: param,
    changes: stopped,
  },
  deleteChannel: {
    prepare: async ({ call }) =>
      to(await idOf(call('createChannel', { body: { kind: 'web_widget', name: 'Widget' } }))),
    target: param,
    changes: deleted({ kind: 'web_widget', name: 'Widget' }),
  },
  createSource: {
    call: { body: { kind: 'feed', url: URL, name: 'News' } },
    changes: created({ kind: 'feed', url: URL, name: 'News' }),
  },
  deleteSource: {
    prepare: async ({ call }) => to(await idOf(call('createSource', { body: { kind: 'url', url: URL } }))),
    target: param,
    changes: deleted({ kind: 'url', url: URL }),
  },
  createApiKey: {
    call: { body: { name: 'Build', scopes: ['read:webhooks'] } },
    changes: created({ name: 'Build', environment: 'live', scopes: ['read:webhooks'] }),
  },
  revokeApiKey: {
    prepare: async ({ admin }) =>
      to(await idOf(admin('createApiKey', { body: { name: 'Old', scopes: ['read:webhooks'] } }))),
    target: param,
    changes: [{ field: 'revokedAt', before: null, after: anyTime }],
  },
  updateOrganization: {
    call: { body: { contentChangeThreshold: 35, contentChangeNotifications: true } },
    target: ({ orgId }) => orgId,
    changes: [{ field: 'contentChangeThreshold', before: 20, after: 35 }],
  },
  resetSandbox: {
    prepare: async ({ sandbox }) => ({ params: { sandbox: (await sandbox()).orgId } }),
    target: (_, { params }) => params?.sandbox ?? '',
    changes: [{ field: 'resetAt', before: null, after: anyTime }],
  },
};

const actionOf = ({ audit }: Route) => audit;
const isAudited = ({ audit }: Route) => audit !== undefined && audit !== 'none';
const isOfSettings = (route: RouteKey) => routes[route].path.startsWith('/settings/');
const AUDITED = (Object.keys(routes) as RouteKey[]).filter((key) => isAudited(routes[key]));
/** Provisioning has a test of its own below. */
const TABLE = AUDITED.filter((key) => key !== 'provisionSandbox');

async function prepared(route: RouteKey) {
  const it = await anOrganization();
  const { prepare, call = {} } = CASES[route] ?? {};
  const caller = isOfSettings(route) ? it.admin : it.call;
  return { it, caller, call: (await prepare?.(it)) ?? call };
}

describe('a change of the set-up', () => {
  it.each(TABLE)('leaves one entry: %s', async (route) => {
    const { it, caller, call } = await prepared(route);
    const { target, changes } = CASES[route] ?? { changes: 'none: add a case' };
    let data: Data = {};
    const [entry, ...more] = await added(it.orgId, async () => {
      data = await caller(route, call);
    });
    expect(more).toEqual([]);
    expect(entry).toEqual({
      id: expect.any(String),
      orgId: it.orgId,
      action: actionOf(routes[route]),
      targetId: target?.(it, call) ?? data.id,
      ...(isOfSettings(route)
        ? { actorType: 'user', actorId: 'ada' }
        : { actorType: 'api_key', actorId: it.keyId }),
      changes,
      requestId: expect.any(String),
      createdAt: anyTime,
    });
  });

  it('leaves two entries when it provisions the sandbox, and one when it issues another key', async () => {
    const { orgId, sandbox } = await anOrganization();
    const actions = async () => (await added(orgId, sandbox)).map(({ action }) => action).toSorted();
    expect(await actions()).toEqual(['api_key.created', 'sandbox.provisioned']);
    expect(await actions()).toEqual(['api_key.created']);
  });

  it('is in the log of the sandbox when it was made with a sandbox key', async () => {
    const live = await anOrganization();
    const { orgId, keyId, call } = await live.sandbox();
    const before = await entriesOf(live.orgId);
    const id = await idOf(call('registerWebhook', { body: { url: URL, events } }));
    expect(await entriesOf(orgId)).toMatchObject([
      { action: 'webhook.created', targetId: id, actorId: keyId },
    ]);
    expect(await entriesOf(live.orgId)).toEqual(before);
  });
});

describe('a call that changes nothing', () => {
  const DELETIONS = TABLE.filter((key) => routes[key].method === 'DELETE');
  const WITH_KEYS = TABLE.filter((key) => 'idempotency' in routes[key]);

  it.each(DELETIONS)('leaves no entry when it is repeated: %s', async (route) => {
    const { it, caller, call } = await prepared(route);
    await caller(route, call);
    expect(await added(it.orgId, () => caller(route, call))).toEqual([]);
  });

  it.each(['updateWebhook', 'updateChannel', 'updateOrganization'] as const)(
    'leaves no entry when the values are the same, or none is given: %s',
    async (route) => {
      const { it, caller, call } = await prepared(route);
      await caller(route, call);
      expect(await added(it.orgId, () => caller(route, call))).toEqual([]);
      expect(await added(it.orgId, () => caller(route, { ...call, body: {} }))).toEqual([]);
    },
  );

  // All routes have their record of an answer from one step.
  it.each(casesOf<RouteKey[]>(['createSource', 'startRedelivery'], WITH_KEYS))(
    'leaves no entry when it replays a response: %s',
    async (route) => {
      const { it, caller, call } = await prepared(route);
      const once = { ...call, idempotencyKey: randomUUID() };
      const first = await caller(route, once);
      let second: Data = {};
      expect(
        await added(it.orgId, async () => {
          second = await caller(route, once);
        }),
      ).toEqual([]);
      expect(second.id).toBe(first.id);
    },
  );
});

describe('concurrent changes', () => {
  it('of one field each leave an entry, whose values follow one another', async () => {
    const it = await anOrganization();
    const id = await webhook(it);
    const given = [1, 2, 3].map((index) => `https://example.com/hooks/${index}`);
    const entries = await added(it.orgId, () =>
      Promise.all(given.map((url) => it.call('updateWebhook', { ...to(id), body: { url } }))),
    );
    const changes = entries.flatMap((entry) => entry.changes);
    expect(changes.map(({ after }) => after).toSorted()).toEqual(given);
    const next = new Map(changes.map(({ before, after }) => [before, after]));
    expect(next.get(next.get(next.get(URL) ?? '') ?? '')).toBe((await it.call('readWebhook', to(id))).url);
  });

  it('that conflict in the table leave one entry each', async () => {
    const { orgId, admin } = await anOrganization();
    let left = 2;
    cancelTransactions(api.client, () => left-- > 0);
    const entries = await added(orgId, () =>
      admin('updateOrganization', { body: { contentChangeThreshold: 41 } }),
    );
    expect(left).toBeLessThan(0);
    expect(entries.map(({ changes }) => changes)).toEqual([
      [{ field: 'contentChangeThreshold', before: 20, after: 41 }],
    ]);
  });

  it('that delete one thing leave one entry', async () => {
    const it = await anOrganization();
    const id = await webhook(it);
    const entries = await added(it.orgId, () =>
      Promise.all([1, 2, 3].map(() => it.call('deleteWebhook', to(id)))),
    );
    expect(entries.map(({ action }) => action)).toEqual(['webhook.deleted']);
  });
});

describe('an entry', () => {
  it('contains no secret, token or digest of one', async () => {
    const rows = (await rowsIn(tables.service)).filter(({ pk }) => String(pk).includes('#audit-log#'));
    const lines = rows.map((row) => JSON.stringify(row));
    expect(lines.length).toBeGreaterThan(AUDITED.length);
    expect(revealed.length).toBeGreaterThan(AUDITED.length);
    expect(linesWithCredentials(lines)).toEqual([]);
    for (const secret of revealed)
      for (const text of [secret, hashApiKey(secret)])
        expect(lines.filter((line) => line.includes(text))).toEqual([]);
  });
});
