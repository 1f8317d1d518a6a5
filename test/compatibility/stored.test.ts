import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import type { EndpointId } from '../../functions/aws/ids.ts';
import { openCursor } from '../../functions/aws/keyrings.ts';
import { committer } from '../../functions/aws/transaction.ts';
import { endpointStore } from '../../functions/receivers/endpoints.ts';
import { organizationStore } from '../../functions/tenancy/organizations.ts';
import { openVisitorToken } from '../../functions/tenancy/visitor-token.ts';
import { resolverOf } from '../../lib/openapi/compatibility/resolution.ts';
import { schemaChanges } from '../../lib/openapi/compatibility/schemas.ts';
import { currentDocument } from '../../lib/openapi/current.ts';
import { aTenant, later, NOW, seconds } from '../builders.ts';
import { changingEndpoints } from '../contract/store/endpoint-changes.ts';
import { rowsIn } from '../contract/store/rows.ts';
import { memoryTables } from '../doubles/tables/stack-tables.ts';
import { eventViolations } from '../support/event-schemas.ts';
import { KINDS, type Kind } from './kinds.ts';
import { lastRelease } from './last-release.ts';
import { bindingOf, createStored, readStored, type Stored } from './stored.ts';

/** The schemas have no references. */
const resolve = resolverOf(currentDocument());
const kinds = new Map<string, Kind>(Object.entries(KINDS));

/** What of a version's data the present code cannot use: one line for each problem. */
function findProblems({ schemas, tenant, rows, event, keyring, cursor, visitorToken }: Stored): string[] {
  const current = createStored().schemas;
  return [
    ...Object.entries(schemas).flatMap(([name, schema]) => {
      const now = current[name];
      // What was stored must stay readable, as a request must stay accepted.
      const how = { direction: 'request', released: resolve, current: resolve } as const;
      return now === undefined ? [`${name}: nothing reads it`] : schemaChanges(schema, now, how, name);
    }),
    ...Object.entries(rows).flatMap(([name, row]) => {
      const { pk, sk } = kinds.get(name)?.keyOf(row, tenant) ?? row;
      return pk === row.pk && sk === row.sk ? [] : [`${name}: it is looked for under ${pk} ${sk}`];
    }),
    ...eventViolations(event).map(({ message }) => `event: ${message}`),
    ...(openCursor(keyring, cursor, bindingOf(tenant)) === 'a-position' ? [] : ['cursor: it does not open']),
    ...(openVisitorToken(keyring, visitorToken, NOW)?.orgId === tenant.orgId
      ? []
      : ['visitor token: it does not open']),
  ];
}

const release = lastRelease();

describe('the present code', () => {
  it('can use what it stores itself', () => {
    expect(findProblems(createStored())).toEqual([]);
  });

  it.skipIf(release === undefined)('can use what the last release stored', () => {
    expect(findProblems(readStored(release?.run('test/compatibility/stored.ts') ?? ''))).toEqual([]);
  });
});

/** What another version would have stored. */
function changed(change: (stored: Stored) => void): Stored {
  const stored = structuredClone(createStored());
  change(stored);
  return stored;
}
const schemaOf = ({ schemas }: Stored, name: string) => {
  const { properties = {}, required = [] } = schemas[name] ?? {};
  return { properties, required };
};

describe('the check of stored data', () => {
  it.each<[string, (stored: Stored) => void, string]>([
    [
      'an attribute that has another name now',
      (all) => Object.assign(schemaOf(all, 'source').properties, { before: { type: 'string' } }),
      'source.before: the field was removed',
    ],
    [
      'an attribute that has another type now',
      (all) => Object.assign(schemaOf(all, 'delivery').properties, { attempts: { type: 'string' } }),
      'delivery.attempts: the type string became integer',
    ],
    [
      'an attribute that is required now',
      (all) => schemaOf(all, 'endpoint').required.splice(0, 1),
      'endpoint.id: it became required',
    ],
    [
      'a value of an enumeration that is not read any more',
      (all) => schemaOf(all, 'delivery').properties.status?.enum?.push('paused'),
      'delivery.status: "paused" is not accepted any more',
    ],
    [
      'a message that has another attribute now',
      (all) => Object.assign(schemaOf(all, 'delivery message').properties, { lane: { type: 'string' } }),
      'delivery message.lane: the field was removed',
    ],
    [
      'a kind of row that nothing reads',
      (all) => Object.assign(all.schemas, { drafts: {} }),
      'drafts: nothing reads it',
    ],
    [
      'another format of a key',
      (all) => Object.assign(all.rows.ticket ?? {}, { pk: 'tickets' }),
      'ticket: it is looked for under',
    ],
    [
      'an event of another shape',
      (all) => {
        all.event = all.event.replace('"schemaVersion":1', '"schemaVersion":"1"');
      },
      'event: must',
    ],
    [
      'a cursor that was bound to something else',
      (all) => {
        all.rows = {};
        all.tenant.generation = 7;
      },
      'cursor: it does not open',
    ],
    [
      'a token with another prefix',
      (all) => {
        all.visitorToken = all.visitorToken.replace('cvt_', 'vis_');
      },
      'visitor token: it does not open',
    ],
  ])('reports %s', (_, change, problem) => {
    expect(findProblems(changed(change)).join('\n')).toContain(problem);
  });
});

/** What a later version may have added, which runs beside the present one during a deployment. */
const LATER = { ofALaterVersion: { kept: true } };

/** The service table with a row of the present kind that a later version has written. */
async function aLaterRow(name: 'endpoint' | 'organization') {
  const { service } = memoryTables();
  const tenant = aTenant();
  const row = { ...KINDS[name].make(tenant), ...LATER };
  await service.client.send(new PutCommand({ TableName: service.name, Item: row }));
  const read = async () => (await rowsIn(service)).find(({ pk, sk }) => pk === row.pk && sk === row.sk);
  return { service, row, read, ...tenant };
}

describe('a row of a later version', () => {
  it.each(Object.entries<Kind>(KINDS))('is read without what is not known: %s', (_, { make, keyOf }) => {
    const tenant = aTenant();
    const { pk, sk, ...attributes } = make(tenant);
    expect(keyOf({ pk, sk, ...attributes, ...LATER }, tenant)).toEqual(
      sk === undefined ? { pk } : { pk, sk },
    );
  });

  it('keeps attributes that a change of an endpoint does not name', async () => {
    const { service, row, read, orgId } = await aLaterRow('endpoint');
    const id = row.sk as EndpointId;
    await changingEndpoints(service).update(orgId, id, { events: ['ticket.created'] });
    const pace = { is: 'slow', until: later(NOW, seconds(60)).toISOString() } as const;
    await endpointStore(service).setPace(orgId, id, undefined, pace);

    expect(await read()).toEqual({ ...row, events: ['ticket.created'], pace });
  });

  it('keeps attributes that a change of an organization does not name', async () => {
    const { service, row, read, orgId } = await aLaterRow('organization');
    const { find, buildUpdate } = organizationStore(service);
    const organization = await find(orgId);
    if (organization === undefined) throw new Error('the organization was just stored');
    await committer(service.client)([buildUpdate(organization, { contentChangeThreshold: 33 })]);

    expect(await read()).toEqual({ ...row, contentChangeThreshold: 33 });
  });
});
