import { PATIENCE } from 'aws-local/test/patience.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RouteKey, routes } from '../../../functions/api/routes.ts';
import { OrgId } from '../../../functions/aws/ids.ts';
import { committer } from '../../../functions/aws/transaction.ts';
import { Scope } from '../../../functions/tenancy/api-keys.ts';
import { organizationStore } from '../../../functions/tenancy/organizations.ts';
import { aKeyring } from '../../builders.ts';
import { dynamoDb, type TestTables } from '../../engines.ts';
import { type Api, aBusyOrganization, anApi } from './api-handlers.ts';
import { anEngine, type TestEngine } from './delivery-engine.ts';
import { live } from './every-route.ts';
import { everyRow, type Row } from './rows.ts';

/*
 * All actions of a live organization, of its sandbox before and after a reset, and of another sandbox,
 * through the functions of all routes and the workers' code. The tests then check every row of every table.
 */
const dynamo = dynamoDb();
const keyring = aKeyring();
type Rows = Map<string, Row>;

/** Rows of a sandbox that no reset deletes (docs/specification.md, Sandbox reset), by their table and key. */
const KEPT = [
  /^service org_\w+ (organization|endpoint-count(#\S+)?|channel-count)$/,
  /^service org_\w+#webhooks whk_/,
  /^service org_\w+#deleted-webhooks /,
  /^service org_\w+#audit-log#\d aud_/,
  /^service org_\w+#channels chn_/,
  // Rate windows, which end with their minute, and last uses of keys.
  /^rates /,
  // Purges, and the pairing beside the live organization.
  /^service purges#/,
  /^service org_\w+ sandbox$/,
  // Keys belong to the live organization.
  /^service (key#|org_\w+#api-keys )/,
];
const isKept = (place: string) => KEPT.some((pattern) => pattern.test(place));

/** Every kind of row of a tenant's data, by its table and key. */
const KINDS = {
  conversation: /^service \S+#conversations#/,
  'conversation of a user': /^service \S+#external-user#\w+ cnv_/,
  'link of a conversation': /^service \S+#links (tkt|evt)_/,
  'erased conversation': /^service \S+#cnv_\w+#erased erased$/,
  erasure: /^service \S+#era_\w+ erasure$/,
  message: /^service \S+#messages msg_/,
  escalation: /^service \S+#escalations esc_/,
  ticket: /^service \S+#tickets#/,
  'idempotency record': /^service \S+#idempotency#/,
  event: /^outbox \S+#events#\d evt_\w+$/,
  'order of a redelivery': /^outbox dlv_\w+ redelivery$/,
  'order of a retry': /^outbox dlv_\w+ retry#\d$/,
  'notice of a disabling': /^outbox whk_\w+#disabled#\S+ notice$/,
  'redelivery job': /^service \S+#redeliveries rdj_/,
  'run of a redelivery job': /^service redelivery-runs#\d \S+#(whk|chn)_/,
  'notice of a redelivery job': /^outbox rdj_\w+#round#/,
  'record of a redelivery': /^service \S+#redelivered#evt_\w+ redelivery$/,
  delivery: /^deliveries /,
  'ledger entry': /^ledger (whk|chn)_/,
  'active endpoint of the ledger': /^ledger \S+#\d+ (whk|chn)_/,
  source: /^knowledge \S+#sources#\d src_/,
  'count of sources': /^knowledge \S+ source-count$/,
  'slots of checks': /^knowledge \S+ check-slots$/,
  'text of a source': /^knowledge \S+#src_\w+#versions /,
  'notice of a source': /^outbox src_\w+#\S+ notice$/,
};
const findKind = (place: string) => Object.entries(KINDS).find(([, pattern]) => pattern.test(place))?.[0];

let tables: TestTables;
let api: Api;
let engine: TestEngine;
/** Rows that these actions have added. */
const lives: Record<'live' | 'first' | 'second' | 'other', Rows> = {
  live: new Map(),
  first: new Map(),
  second: new Map(),
  other: new Map(),
};
let sandbox: OrgId;
let beforePurge: Rows;
let afterPurge: Rows;

async function added(act: () => Promise<void>): Promise<Rows> {
  const before = await everyRow(tables);
  await act();
  return new Map([...(await everyRow(tables))].filter(([place]) => !before.has(place)));
}

/** A live organization with its sandbox, and keys to both. */
async function anOrganization() {
  const organization = aBusyOrganization();
  const { service } = tables;
  await committer(service.client)([organizationStore(service).add(organization)]);
  const admin = api.caller(await api.session(organization.id));
  const terms = { name: 'All', scopes: [...Scope.options] };
  const key = await admin('createApiKey', { body: terms });
  const provisioned = await admin('provisionSandbox', { body: terms });
  const { secretOnce } = Object(provisioned.key);
  return {
    orgId: organization.id,
    sandbox: OrgId.parse(provisioned.sandboxOrganizationId),
    admin,
    live: api.caller(String(key.secretOnce)),
    inSandbox: api.caller(String(secretOnce)),
  };
}

beforeAll(async () => {
  tables = await dynamo.createdTables();
  api = await anApi(dynamo, tables, keyring);
  engine = anEngine(tables, keyring);
  const ours = await anOrganization();
  const theirs = await anOrganization();
  sandbox = ours.sandbox;
  lives.live = await added(() => live(tables, engine, ours.live, ours.orgId, api.caller));
  lives.first = await added(() => live(tables, engine, ours.inSandbox, ours.sandbox, api.caller));
  lives.other = await added(() => live(tables, engine, theirs.inSandbox, theirs.sandbox, api.caller));
  await ours.admin('resetSandbox');
  lives.second = await added(() => live(tables, engine, ours.inSandbox, ours.sandbox, api.caller));
  const { id } = await ours.admin('createApiKey', { body: { name: 'Old', scopes: ['read:webhooks'] } });
  await ours.admin('revokeApiKey', { params: { id: String(id) } });
  await ours.admin('updateOrganization', { body: { contentChangeThreshold: 5 } });
  beforePurge = await everyRow(tables);
  await engine.purge();
  afterPurge = await everyRow(tables);
}, 120_000 * PATIENCE);
afterAll(() => api.close());

describe('the test data', () => {
  it('comes from calls of every route that changes something', () => {
    const changing = (Object.keys(routes) as RouteKey[]).filter((key) => routes[key].method !== 'GET');
    expect([...api.called].filter((key) => changing.includes(key)).toSorted()).toEqual(changing.toSorted());
  });

  it.each(Object.keys(lives) as (keyof typeof lives)[])('has rows of every kind: %s', (life) => {
    const data = [...lives[life].keys()].filter((place) => !isKept(place));
    expect(data.filter((place) => findKind(place) === undefined)).toEqual([]);
    expect(new Set(data.map(findKind))).toEqual(new Set(Object.keys(KINDS)));
  });

  it.each(Object.keys(lives) as (keyof typeof lives)[])('has deliveries in every state: %s', (life) => {
    const deliveries = [...lives[life]].filter(([place]) => place.startsWith('deliveries '));
    expect(new Set(deliveries.map(([, { status }]) => status))).toEqual(
      new Set(['pending', 'retrying', 'succeeded', 'exhausted', 'skipped']),
    );
    for (const trait of ['parked', 'lease', 'dueIn', 'redeliveryOf'])
      expect(
        deliveries.filter(([, row]) => trait in row),
        trait,
      ).not.toEqual([]);
  });
});

describe('every row of a sandbox', () => {
  const marks: readonly [life: keyof typeof lives, generation: number][] = [
    ['first', 1],
    ['second', 2],
  ];

  it.each(marks)('%s: has the mark of its generation unless resets keep it', (life, generation) => {
    const rows = [...lives[life]].filter(([place]) => !isKept(place));
    expect(rows.filter(([, row]) => row.ofSandbox !== `${sandbox}#${generation}`)).toEqual([]);
  });

  it('has the mark of its own sandbox only', () => {
    const rows = [...lives.other].filter(([place]) => !isKept(place));
    expect(new Set(rows.map(([, row]) => row.ofSandbox)).size).toBe(1);
    expect(rows[0]?.[1].ofSandbox).not.toContain(sandbox);
  });

  it.each(['first', 'second', 'other'] as const)('%s: has no mark if resets keep it', (life) => {
    expect([...lives[life]].filter(([place, row]) => isKept(place) && 'ofSandbox' in row)).toEqual([]);
  });

  it('has the mark of the sandbox that it names', () => {
    for (const [place, row] of beforePurge)
      if (JSON.stringify(row).includes(`${sandbox}#`) && !isKept(place))
        expect(String(row.ofSandbox)).toMatch(new RegExp(`^${sandbox}#[12]$`));
  });
});

describe('every row of a live organization', () => {
  it('has no mark', () => {
    expect([...lives.live].filter(([, row]) => 'ofSandbox' in row)).toEqual([]);
    expect(lives.live.size).toBeGreaterThan(20);
  });
});

describe('the purge after a reset', () => {
  const isOrder = (place: string) => place.startsWith('service purges#');

  /** Erased conversations are the other half of the purge (`test/contract/api/erasure.test.ts`). */
  function withoutErased(rows: Rows): Rows {
    const erased = [...rows.keys()].flatMap((place) => /#(cnv_\w+)#erased /.exec(place)?.[1] ?? []);
    const isAbout = (entry: [string, Row]) => erased.some((id) => JSON.stringify(entry).includes(id));
    return new Map([...rows].filter((entry) => !isAbout(entry)));
  }

  it('deletes every row of the generation and its own record, and nothing else', () => {
    const rest = [...beforePurge].filter(
      ([place, row]) => row.ofSandbox !== `${sandbox}#1` && !isOrder(place),
    );
    expect(beforePurge.size - rest.length).toBeGreaterThan(20);
    expect(withoutErased(afterPurge)).toEqual(withoutErased(new Map(rest)));
  });

  it('leaves no row that names the generation', () => {
    const ofFirst = [...lives.first.keys()].filter((place) => !isKept(place));
    expect(ofFirst.filter((place) => afterPurge.has(place))).toEqual([]);
    expect([...afterPurge].filter((entry) => JSON.stringify(entry).includes(`${sandbox}#1`))).toEqual([]);
  });

  it('leaves the audit log, with the changes of both generations', () => {
    const log = [...afterPurge].filter(([place]) => place.startsWith(`service ${sandbox}#audit-log#`));
    for (const life of ['first', 'second'] as const) {
      const ofLife = log.filter(([place]) => lives[life].has(place)).map(([, { action }]) => action);
      expect(new Set(ofLife)).toEqual(
        new Set([
          'webhook.created',
          'webhook.deleted',
          'webhook.disabled',
          'channel.created',
          'channel.updated',
          'channel.deleted',
          'source.created',
          'source.deleted',
          'redelivery.started',
          'redelivery.stopped',
          'erasure.created',
        ]),
      );
    }
  });

  it('leaves endpoints and channels with their states', () => {
    const channels = [...lives.first.keys()].filter((place) => place.includes('#channels chn_'));
    expect(channels).toHaveLength(2);
    for (const place of channels) expect(afterPurge.has(place)).toBe(true);
    const endpoints = [...lives.first].filter(([place]) => place.includes('#webhooks whk_'));
    expect(endpoints.map(([, { status }]) => status).toSorted()).toEqual([
      'active',
      'active',
      'auto_disabled',
    ]);
    for (const [place] of endpoints) expect(afterPurge.has(place)).toBe(true);
  });
});
