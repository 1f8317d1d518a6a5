import { describe, expect, it } from 'vitest';
import type { EndpointId, OrgId, ReceiverId } from '../../functions/aws/ids.ts';
import { committer } from '../../functions/aws/transaction.ts';
import { conversationStore } from '../../functions/conversations/conversations.ts';
import { deliveryStore } from '../../functions/delivery/rows.ts';
import { idempotencyStore } from '../../functions/http/idempotency.ts';
import { sourceVersions } from '../../functions/knowledge/source-checks.ts';
import { sourceStore } from '../../functions/knowledge/sources.ts';
import { endpointStore } from '../../functions/receivers/endpoints.ts';
import { buildTenantKey } from '../../functions/tenancy/keys.ts';
import { organizationStore, readPairing, sandboxStore } from '../../functions/tenancy/organizations.ts';
import type { Tenant } from '../../functions/tenancy/tenant.ts';
import { changingEndpoints } from '../contract/store/endpoint-changes.ts';
import { rowsIn } from '../contract/store/rows.ts';
import type { Row } from '../doubles/tables/expressions.ts';
import type { TestTables } from '../engines.ts';
import { aWorker } from './a-worker.ts';
import { KINDS } from './kinds.ts';
import { tableKinds } from './loaded.ts';
import { type Fixture, fixtures } from './recording/fixture.ts';

const HOUR_MS = 3_600_000;
const ALL = { limit: 1000, after: undefined };

const { memory, engine } = tableKinds();

/** All recorded rows of a kind. */
const selectRows = ({ tables }: Fixture, { table, is }: (typeof KINDS)['event']): Row[] =>
  (tables[table] ?? []).filter(is);

/** The tenants in the rows' partition keys. */
const listTenants = (rows: readonly Row[]): Tenant[] =>
  [...new Set(rows.map(({ pk }) => String(pk).split('#').slice(0, 2).join('#')))].map((text) => {
    const [orgId, generation] = text.split('#');
    return { orgId: orgId as OrgId, generation: Number(generation) };
  });

/** Some hours after the recording: all waits, leases and windows are over, and nothing has expired. */
const hoursAfter = ({ made }: Fixture, hours: number) =>
  new Date(new Date(made.recordedAt).getTime() + hours * HOUR_MS);

describe.each([memory, engine])('the workers on items of earlier versions ($name)', ({ load }) => {
  describe.each(fixtures())('$name', ({ fixture }) => {
    const isOver = (tenant: Tenant) =>
      selectRows(fixture, KINDS.purge).some(
        (row) => buildTenantKey(tenant) === buildTenantKey(row as unknown as Tenant),
      );

    it('find every open delivery due, attempt it and settle it once', async () => {
      const worker = aWorker(await load(fixture), hoursAfter(fixture, 13));
      const before = await worker.open();

      await worker.finish();

      expect((await worker.open()).filter((delivery) => !isOver(delivery))).toEqual([]);
      const ended = await worker.all();
      for (const { id, attempts } of before) {
        const delivery = ended.find((one) => one.id === id);
        if (delivery === undefined || isOver(delivery)) continue;
        expect(delivery).toMatchObject({ terminalAt: expect.any(String) });
        expect(delivery.attempts - attempts).toBeLessThanOrEqual(1);
        if (delivery.status === 'succeeded')
          expect(delivery.attemptLog.at(-1)).toMatchObject({ status: 204, number: delivery.attempts });
      }
      expect(worker.log.trouble().filter(({ level }) => level === 'error')).toEqual([]);
    });

    it('correct the counts of interrupted work, and find no difference afterwards', async () => {
      const tables = await load(fixture);
      const worker = aWorker(tables, hoursAfter(fixture, 13));
      await worker.finish();

      const hours = new Set(selectRows(fixture, KINDS.ledger).map(({ hour }) => String(hour)));
      expect(hours.size).toBeGreaterThan(0);
      for (const hour of hours) {
        const auditor = aWorker(tables, new Date(Date.parse(hour) + 98.5 * HOUR_MS));
        expect((await auditor.audit()).entries).toBeGreaterThan(0);
        expect(await auditor.audit()).toMatchObject({ differing: 0, open: 0 });
      }
    });

    it('purge exactly the rows of reset generations', async () => {
      const tables = await load(fixture);
      const worker = aWorker(tables, hoursAfter(fixture, 2));
      const orders = selectRows(fixture, KINDS.purge);

      expect(await worker.purge()).toMatchObject({ closed: orders.length, open: 0 });

      const reset = new Set(orders.map((row) => buildTenantKey(row as unknown as Tenant)));
      for (const [name, rows] of Object.entries(fixture.tables)) {
        const left = (await rowsIn(tables[name as keyof TestTables])).length;
        const over = rows.filter((row) => reset.has(String(row.ofSandbox)));
        const closed = name === 'service' ? orders.length : 0;
        expect(left, name).toBe(rows.length - over.length - closed);
      }
    });
  });
});

// Only in memory: the engine would only take longer, and its own suites compare the double with it.
describe('the stores on items of earlier versions', () => {
  const { load } = memory;
  describe.each(fixtures())('$name', ({ fixture }) => {
    it('list all items', async () => {
      const { service, deliveries } = await load(fixture);
      for (const tenant of listTenants(selectRows(fixture, KINDS.conversation))) {
        const { items } = await conversationStore(service).list(tenant, ALL);
        const rows = selectRows(fixture, KINDS.conversation).filter(({ pk }) =>
          String(pk).startsWith(`${buildTenantKey(tenant)}#`),
        );
        expect(items.map(({ id }) => id)).toEqual(
          rows
            .map(({ sk }) => sk)
            .toSorted()
            .reverse(),
        );
      }
      const rows = selectRows(fixture, KINDS.delivery);
      for (const webhookId of new Set(rows.map((row) => row.webhookId as ReceiverId))) {
        const own = rows.filter((row) => row.webhookId === webhookId);
        for (const generation of new Set(own.map((row) => Number(row.generation)))) {
          const tenant = { orgId: own[0]?.orgId as OrgId, generation };
          const { items } = await deliveryStore(deliveries).list(tenant, webhookId, ALL);
          const expected = own.filter((row) => row.generation === generation);
          expect(items.map(({ id }) => id)).toEqual(
            expected
              .map(({ sk }) => sk)
              .toSorted()
              .reverse(),
          );
        }
      }
    });

    it('keep attributes that a change does not name', async () => {
      const { service } = await load(fixture);
      const endpoints = endpointStore(service);
      for (const row of selectRows(fixture, KINDS.endpoint).filter(({ sk }) =>
        String(sk).startsWith('whk_'),
      )) {
        const [orgId, id] = [row.orgId as OrgId, row.sk as EndpointId];
        await changingEndpoints(service).update(orgId, id, { events: ['ticket.created'] });
        const pace = { is: 'slow', until: hoursAfter(fixture, 1).toISOString() } as const;
        await endpoints.setPace(orgId, id, undefined, pace);
        const after = (await rowsIn(service)).find(({ sk }) => sk === id);
        expect(after).toEqual({
          ...row,
          events: ['ticket.created'],
          pace,
        });
      }
      for (const row of selectRows(fixture, KINDS.organization)) {
        const { find, buildUpdate } = organizationStore(service);
        const organization = await find(row.pk as OrgId);
        if (organization === undefined) throw new Error('the fixture has the organization');
        await committer(service.client)([buildUpdate(organization, { contentChangeThreshold: 33 })]);
        const after = (await rowsIn(service)).find(({ pk, sk }) => pk === row.pk && sk === row.sk);
        expect(after).toEqual({ ...row, contentChangeThreshold: 33 });
      }
    });

    it('resolve open conversations and reset sandboxes', async () => {
      const { service } = await load(fixture);
      const commit = committer(service.client);
      const at = hoursAfter(fixture, 1);
      for (const row of selectRows(fixture, KINDS.conversation)) {
        const [tenant] = listTenants([row]);
        if (tenant === undefined || row.status === 'resolved') continue;
        const store = conversationStore(service);
        const id = row.sk as `cnv_${string}`;
        expect(await commit([store.changeState(tenant, id, { kind: 'resolve', at, by: 'ada' })])).toEqual({
          kind: 'committed',
        });
        expect(await store.find(tenant, id)).toMatchObject({ status: 'resolved', resolvedBy: 'ada' });
      }
      for (const row of selectRows(fixture, KINDS.pairing)) {
        const { sandbox } = await readPairing(service)(row.liveOrganizationId as OrgId);
        if (sandbox === undefined) throw new Error('a pairing leads to no sandbox');
        const tenant = { orgId: sandbox.id, generation: sandbox.generation };
        expect(await commit([sandboxStore(service).nextGeneration(tenant, at)])).toEqual({
          kind: 'committed',
        });
      }
    });

    it('return the first answer for a repeated call', async () => {
      const { service } = await load(fixture);
      const store = idempotencyStore(service);
      for (const row of selectRows(fixture, KINDS.idempotency)) {
        const [tenant] = listTenants([row]);
        const [, , , route = '', key = ''] = String(row.pk).split('#');
        if (tenant === undefined) continue;
        const record = await store.find({ tenant, route, key }, new Date(fixture.made.recordedAt));
        const { fingerprint, status, data } = row;
        expect(record).toMatchObject({ fingerprint, status, data });
      }
    });

    it('read the versions of sources', async () => {
      const { knowledge } = await load(fixture);
      for (const row of selectRows(fixture, KINDS.source)) {
        const [tenant] = listTenants([row]);
        const source = tenant && (await sourceStore(knowledge).find(tenant, row.sk as `src_${string}`));
        const { version } = source?.content ?? {};
        const stored = source?.stored.find((one) => one.version === version);
        if (source === undefined || stored === undefined) continue;
        expect(await sourceVersions(knowledge).read(source, stored)).toMatch(/\w+/);
      }
    });
  });
});
