import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { MAX_CHANNELS } from '../../../functions/receivers/channels.ts';
import { MAX_ENDPOINTS } from '../../../functions/receivers/endpoint.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { createSandbox, type Pairing, type Sandbox } from '../../../functions/tenancy/organizations.ts';
import { anEndpoint, anHttpChannel, later, NOW, seconds } from '../../builders.ts';
import { type Document, readDocument } from '../../fuzz/document.ts';
import { rowAfter } from '../../support/mocked-dynamodb.ts';
import { call, loadedFunctions } from './functions.ts';
import {
  failedFirst,
  mockedTables,
  organization,
  pairing,
  type State,
  sandbox,
  type Writes,
} from './tables.ts';

/*
 * Provisioning and resetting a sandbox while other requests do the same: the other requests run between the
 * functions and their tables.
 */
const { operations }: Document = readDocument();
const tables = mockedTables();
const KEY = { name: 'Tests', scopes: ['write:webhooks'] };

const loaded = loadedFunctions(organization.id);

/** The stored items of the organization's sandbox. */
interface Stored {
  pairing?: Pairing | undefined;
  sandbox?: Sandbox | undefined;
}
const createItemFinder =
  (stored: Stored): NonNullable<State['item']> =>
  ({ pk, sk }) => {
    if (sk === 'sandbox') return { found: stored.pairing };
    return sk === 'organization' && pk !== organization.id ? { found: stored.sandbox } : undefined;
  };

async function ask(id: string, state: State) {
  const operation = operations.find((known) => known.id === id);
  if (operation === undefined)
    throw new Error(`the document has no operation ${id}: npm run generate -- openapi`);
  const { method, path, body } = operation;
  const { result, committed } = await tables.withState(state, () =>
    call(loaded.functionOf(operation), operation, {
      method,
      target: path,
      headers: [
        ['Authorization', `Bearer ${loaded.session}`],
        ['Content-Type', 'application/json'],
      ],
      ...(body ? { body: JSON.stringify(KEY) } : {}),
    }),
  );
  const answer = JSON.parse(result.text);
  return { status: result.status, data: answer.data, type: answer.error?.type, committed };
}

/** The keys of the items that a transaction writes. */
const listWrittenKeys = (writes: Writes): string[] =>
  writes.map(({ Put, Update }) => {
    const { pk, sk } = Put?.Item ?? Update?.Key ?? {};
    return `${pk} ${sk}`;
  });

const other = createSandbox(newId('org', NOW), NOW);
const contradictions: [string, Stored][] = [
  ['names an organization that is no sandbox', { pairing, sandbox: undefined }],
  [
    'names a sandbox that names another organization',
    { pairing, sandbox: { ...sandbox, liveOrganizationId: other.sandbox.liveOrganizationId } },
  ],
  [
    'names another organization’s sandbox',
    { pairing: { ...pairing, sandboxOrganizationId: other.sandbox.id }, sandbox: other.sandbox },
  ],
  ['is another organization’s', other],
];

describe('provisioning', () => {
  it('creates pairing, sandbox and key in one transaction', async () => {
    const { status, data, committed } = await ask('provisionSandbox', { item: createItemFinder({}) });
    expect([status, data.provisioned]).toEqual([201, true]);
    expect(committed.map(listWrittenKeys)).toEqual([
      expect.arrayContaining([
        `${organization.id} sandbox`,
        `${data.sandboxOrganizationId} organization`,
        expect.stringContaining(data.key.id),
      ]),
    ]);
  });

  it('issues only a key when another request has created the sandbox meanwhile', async () => {
    const stored: Stored = {};
    const { status, data, committed } = await ask('provisionSandbox', {
      item: (key) => createItemFinder(stored)(key),
      cancelled(writes) {
        if (stored.pairing) return undefined;
        Object.assign(stored, { pairing, sandbox });
        return failedFirst(writes);
      },
    });
    expect(status).toBe(201);
    expect(data).toMatchObject({ sandboxOrganizationId: sandbox.id, provisioned: false });
    expect(data.key.secretOnce).toMatch(/^ck_sandbox_/);
    const written = committed.flatMap(listWrittenKeys);
    expect(written).not.toContain(`${organization.id} sandbox`);
    expect(written.filter((item) => item.endsWith('organization'))).toEqual([]);
    expect(written.join()).toContain(data.key.id);
  });

  it('retries conflicts until it creates the sandbox', async () => {
    let met = 0;
    const { status, data, committed } = await ask('provisionSandbox', {
      item: createItemFinder({}),
      cancelled(writes) {
        met += 1;
        return met < 3 ? writes.map(() => 'TransactionConflict') : undefined;
      },
    });
    expect([status, data.provisioned, committed.length]).toEqual([201, true, 1]);
  });

  it('answers 503 when conflicts continue', async () => {
    const { status, type, committed } = await ask('provisionSandbox', {
      item: createItemFinder({}),
      cancelled: (writes) => writes.map(() => 'TransactionConflict'),
    });
    expect([status, type, committed]).toEqual([503, 'SERVICE_UNAVAILABLE', []]);
  });
});

describe('a reset', () => {
  it('increases the generation and starts the purge of the previous one in one transaction', async () => {
    const { status, data, committed } = await ask('resetSandbox', {
      item: createItemFinder({ pairing, sandbox: { ...sandbox, generation: 41 } }),
    });
    expect(status).toBe(200);
    const [[first, second, entry, ...more] = [], ...others] = committed;
    expect([more, others]).toEqual([[], []]);
    expect(first?.Update).toMatchObject({
      Key: { pk: sandbox.id, sk: 'organization' },
      ConditionExpression: expect.stringMatching(/^generation = :/),
    });
    expect(rowAfter(first?.Update ?? {})).toEqual({ generation: 42, resetAt: data.resetAt });
    expect(second?.Put?.Item).toMatchObject({ orgId: sandbox.id, generation: 41, requestedAt: data.resetAt });
    expect(entry?.Put?.Item).toMatchObject({ orgId: organization.id, action: 'sandbox.reset' });
  });

  it('makes all endpoints and channels active again in the same transaction, also at their limits', async () => {
    const { id: orgId } = sandbox;
    const failing = { consecutiveFailures: 1 };
    const endpoints = Array.from({ length: MAX_ENDPOINTS }, () =>
      anEndpoint({ orgId, id: newId('whk', NOW), ...failing }),
    );
    const channels = Array.from({ length: MAX_CHANNELS }, () =>
      anHttpChannel({ orgId, id: newId('chn', NOW), ...failing }),
    );
    const { status, committed } = await ask('resetSandbox', {
      item: createItemFinder({ pairing, sandbox }),
      rows: (pk) => (pk === keys.channels(orgId) ? channels : pk === keys.endpoints(orgId) ? endpoints : []),
    });
    const [writes = [], ...others] = committed;
    expect([status, others]).toEqual([200, []]);
    expect(writes.length).toBeLessThanOrEqual(100);
    const activated = writes.flatMap(({ Update }) =>
      Update !== undefined && rowAfter(Update).status === 'active' ? [Update.Key?.sk] : [],
    );
    expect(activated.toSorted()).toEqual([...endpoints, ...channels].map(({ id }) => id).toSorted());
  });

  it('returns the time of a concurrent reset, and deletes nothing more', async () => {
    const resetAt = later(NOW, seconds(5)).toISOString();
    const stored: Stored = { pairing, sandbox };
    const { status, data, committed } = await ask('resetSandbox', {
      item: (key) => createItemFinder(stored)(key),
      cancelled(writes) {
        stored.sandbox = { ...sandbox, generation: 2, resetAt };
        return failedFirst(writes);
      },
    });
    expect([status, data]).toEqual([200, { sandboxOrganizationId: sandbox.id, resetAt }]);
    expect(committed).toEqual([]);
  });

  it('without a sandbox is refused and writes nothing', async () => {
    const { status, type, committed } = await ask('resetSandbox', { item: createItemFinder({}) });
    expect([status, type, committed]).toEqual([409, 'SANDBOX_NOT_PROVISIONED', []]);
  });
});

describe.each(contradictions)('a pairing that %s', (_, stored) => {
  it.each(['provisionSandbox', 'resetSandbox', 'readSandbox'])('makes %s fail without effect', async (id) => {
    const { status, data, committed } = await ask(id, { item: createItemFinder(stored) });
    expect([status, data, committed]).toEqual([500, undefined, []]);
  });
});
