import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { routes } from '../../functions/api/routes.ts';
import { openCursor } from '../../functions/aws/keyrings.ts';
import { DeliveryMessage } from '../../functions/delivery/delivery.ts';
import { BusEvent } from '../../functions/events/bus.ts';
import { buildTenantKey } from '../../functions/tenancy/keys.ts';
import { openVisitorToken } from '../../functions/tenancy/visitor-token.ts';
import type { Row } from '../doubles/tables/expressions.ts';
import { KINDS, type Kind } from './kinds.ts';
import { fixtures } from './recording/fixture.ts';

const FIXTURES = fixtures();
const kinds = Object.entries<Kind>(KINDS);
const listRows = (tables: object): [table: string, row: Row][] =>
  Object.entries<Row[]>(tables as Record<string, Row[]>).flatMap(([table, rows]) =>
    rows.map((row): [string, Row] => [table, row]),
  );
const pickKey = ({ pk, sk }: Row) => (sk === undefined ? { pk } : { pk, sk });

describe('the fixtures of all versions', () => {
  it.each(kinds)('have a row of the kind %s', (_, { table, is }) => {
    expect(FIXTURES.some(({ fixture }) => fixture.tables[table]?.some(is))).toBe(true);
  });
});

describe.each(FIXTURES)('the fixture of $name', ({ fixture }) => {
  const rows = listRows(fixture.tables);

  it('has rows of exactly one known kind each', () => {
    const unclear = rows.filter(
      ([table, row]) => kinds.filter(([, kind]) => kind.table === table && kind.is(row)).length !== 1,
    );
    expect(unclear).toEqual([]);
  });

  it('has readable rows under the keys that the present code builds', () => {
    for (const [table, row] of rows) {
      const [name, kind] = kinds.find(([, one]) => one.table === table && one.is(row)) ?? [];
      const key = kind?.keyOf(row);
      if (kind?.isFoundOtherwise === undefined) expect(key, name).toEqual(pickKey(row));
    }
  });

  it('has readable messages of both kinds of queues', () => {
    const told = fixture.messages.filter(({ body }) => 'detail' in JSON.parse(body));
    const deliveryMessages = fixture.messages.filter((message) => !told.includes(message));

    expect(deliveryMessages.length).toBeGreaterThan(0);
    for (const { body } of deliveryMessages)
      expect(DeliveryMessage.parse(JSON.parse(body)).id).toMatch(/^dlv_/);
    for (const { body } of told)
      expect(z.object({ detail: BusEvent }).parse(JSON.parse(body)).detail.data).not.toEqual({});
  });

  it('has cursors that are valid for their own listing', () => {
    const orgIds = new Set(
      (fixture.tables.service ?? []).flatMap(({ orgId }) => (orgId ? [String(orgId)] : [])),
    );
    const cursors = fixture.given.filter(({ kind }) => kind === 'cursor');

    expect(cursors.length).toBeGreaterThan(2);
    for (const { route: path, value } of cursors) {
      const opened = [...orgIds].map((orgId) =>
        openCursor(fixture.cursorKeys, value, {
          tenant: buildTenantKey({ orgId: orgId as `org_${string}`, generation: 0 }),
          ...toListing(path),
        }),
      );
      expect(opened.filter((position) => position !== undefined)).toHaveLength(1);
    }
  });

  it('has visitor tokens that are valid until they expire', () => {
    for (const { kind, value } of fixture.given) {
      if (kind !== 'visitor-token') continue;
      const at = new Date(fixture.made.recordedAt);
      const early = openVisitorToken(fixture.cursorKeys, value, at);
      expect(early?.conversationId).toMatch(/^cnv_/);
      const late = new Date(at.getTime() + 3_600_000 + Date.parse(early?.expiresAt ?? '') - at.getTime());
      expect(openVisitorToken(fixture.cursorKeys, value, late)).toBeUndefined();
    }
  });
});

/** The listing that a path's cursor is bound to. */
function toListing(path: string): { route: string; filters: string[] } {
  const asked = path
    .replace(/\?.*/, '')
    .replace(/^\/api/, '')
    .split('/');
  for (const { method, path: pattern, name } of Object.values(routes)) {
    const parts = pattern.split('/');
    const isIt =
      parts.length === asked.length && parts.every((part, at) => part.startsWith('{') || part === asked[at]);
    if (method === 'GET' && isIt)
      return { route: name, filters: asked.filter((_, at) => parts[at]?.startsWith('{')) };
  }
  throw new Error(`${path} is no route`);
}
