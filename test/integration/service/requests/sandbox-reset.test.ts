import { PATIENCE } from 'aws-local/test/patience.ts';
import { until } from 'aws-local/test/until.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../../../functions/api/routes.ts';
import type { Route } from '../../../../functions/http/route.ts';
import { isPaged } from '../../../../lib/openapi/problems.ts';
import type { Answer } from '../../../support/api.ts';
import { filled } from '../../../support/resources.ts';
import type { Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';
import { expectProblem } from './expect-problem.ts';

const SANDBOX = '/api/settings/sandbox';
const KEYS = '/api/settings/api-keys';
const RESET = `${SANDBOX}/reset`;
const CONVERSATIONS = '/api/v1/conversations';

/* A reset empties the sandbox at once, and changes nothing else (docs/specification.md, Sandbox reset). */
const place = aPlace();

describe('a reset of a sandbox', () => {
  const reset = ({ admin }: Pick<Tenant, 'admin'>): Promise<Answer> => admin.post(RESET);

  describe('of a sandbox with resources of every kind', () => {
    /** Routes that read one resource. */
    const READS = Object.values(routes).filter(
      ({ method, path }) => method === 'GET' && path.startsWith('/v1/') && path.endsWith('}'),
    );
    const LISTS = (Object.values(routes) as Route[]).filter(
      (route) => isPaged(route) && !route.visitor && route.path.startsWith('/v1/'),
    );
    let live: Tenant;
    let sandbox: Tenant;
    let answer: Answer;
    /** Paths of one resource of each kind. */
    let things: string[];
    /** Paths of lists, with cursors of their second page. */
    let lists: { path: string; cursor: string }[];
    /** State that the reset must not change. */
    let before: { live: string[]; elsewhere: string[]; keys: unknown; webhooks: unknown };
    let elsewhere: Tenant;

    const readCursors = async () =>
      Promise.all(
        lists.map(({ path, cursor }) =>
          sandbox.api.get(`${path}?limit=1&cursor=${encodeURIComponent(cursor)}`),
        ),
      );
    /** Rows of an organization without those that workers update at any time. */
    const findRows = async (id: string) =>
      (await place.service().itemsWith([id])).filter((row) => !/^\S*(Rate|Ledger|Usage)/.test(row));
    const kept = async () => ({
      live: await findRows(live.orgId),
      elsewhere: await findRows(elsewhere.orgId),
      // The last use of a key changes with its use.
      keys: (await live.admin.all(KEYS)).map(({ lastUsedAt: _, ...key }) => key),
      webhooks: await sandbox.api.all('/api/v1/webhooks'),
    });

    beforeAll(async () => {
      ({ live, sandbox } = await place.pair());
      ({ sandbox: elsewhere } = await place.pair());
      await live.api.createConversation();
      await elsewhere.api.createConversation();
      things = [];
      for (const { path } of READS) things.push(await filled(sandbox, `/api${path}`));
      lists = [];
      for (const { path } of LISTS) {
        const list = await filled(sandbox, `/api${path}`);
        for (const _ of [1, 2]) await filled(sandbox, `${list}/{id}`);
        const { status, body } = await sandbox.api.get(`${list}?limit=1`);
        expect([list, status, typeof body.nextCursor]).toEqual([list, 200, 'string']);
        lists.push({ path: list, cursor: String(body.nextCursor) });
      }
      for (const path of things) expect((await sandbox.api.get(path)).status).toBe(200);
      for (const { status } of await readCursors()) expect(status).toBe(200);
      before = await kept();
      answer = await reset(live);
    }, 120_000 * PATIENCE);

    it('returns its time', () => {
      expect(answer.status).toBe(200);
      expect(answer.body.data).toEqual({ sandboxOrganizationId: sandbox.orgId, resetAt: expect.any(String) });
    });

    /** Settings that outlive a reset. */
    const isKept = (path: string) => /\/(whk|chn)_\w+$|\/(webhooks|channels)$/.test(path);

    it('leaves only endpoints and channels readable', async () => {
      const statuses = await Promise.all(things.map(async (path) => (await sandbox.api.get(path)).status));
      expect(Object.fromEntries(things.map((path, index) => [path, statuses[index]]))).toEqual(
        Object.fromEntries(things.map((path) => [path, isKept(path) ? 200 : 404])),
      );
    });

    it('leaves lists empty, and those of deleted resources unreadable', async () => {
      for (const { path } of lists.filter((list) => !isKept(list.path))) {
        const { status, body } = await sandbox.api.get(path);
        if (/\/cnv_/.test(path)) expect([path, status]).toEqual([path, 404]);
        else expect([path, status, body.data, body.nextCursor]).toEqual([path, 200, [], null]);
      }
    });

    it('leaves endpoints with empty statistics', async () => {
      const webhooks = await sandbox.api.all('/api/v1/webhooks');
      expect(webhooks.length).toBeGreaterThan(1);
      for (const { id } of webhooks)
        expect((await sandbox.api.get(`/api/v1/webhooks/${id}/stats`)).body.data).toMatchObject({
          totals: { owed: 0, duplicates: 0 },
          oldestPending: null,
          hours: [],
        });
    });

    it('invalidates every cursor', async () => {
      for (const refused of await readCursors())
        if (refused.status !== 404) expectProblem(refused, 400, 'VALIDATION_ERROR');
    });

    it('leaves keys, endpoints, live data and other organizations unchanged', async () => {
      expect((await sandbox.api.get(CONVERSATIONS)).status).toBe(200);
      const { live: all, ...others } = await kept();
      // The log of the live organization has one more entry.
      const rows = all.filter((row) => !row.includes("action: 'sandbox.reset'"));
      expect(all).toHaveLength(rows.length + 1);
      expect(others).toEqual({ elsewhere: before.elsewhere, keys: before.keys, webhooks: before.webhooks });
      // The sandbox's own row names the live organization and has a new generation.
      const isOthers = (row: string) =>
        !/liveOrganizationId: .* generation: /.test(row) && !/generation: .* liveOrganizationId: /.test(row);
      expect(rows.filter(isOthers)).toEqual(before.live.filter(isOthers));
      expect(rows).toHaveLength(before.live.length);
      expect(rows.filter(isOthers)).toHaveLength(rows.length - 1);
    });

    it('shows its purge in the sandbox until no row is left', async () => {
      const { lastResetAt, purge } = Object((await live.admin.get(SANDBOX)).body.data);
      expect(lastResetAt).toBe(answer.body.data?.resetAt);
      expect([null, lastResetAt]).toContain(purge?.since ?? null);
      await until('the purge to be over', async () => {
        await place.service().invoke('purge');
        return Object((await live.admin.get(SANDBOX)).body.data).purge === null;
      });
      expect(await place.service().itemsWith([`${sandbox.orgId}#1`])).toEqual([]);
    });

    it('leaves a working sandbox with the same endpoint secrets', async () => {
      const { body } = await sandbox.api.get('/api/v1/webhooks');
      const [{ id } = { id: '' }] = [...(body.data ?? [])];
      const { body: test } = await sandbox.api.post(`/api/v1/webhooks/${id}/test`);
      const { deliveryId } = Object(test.data);
      await until('the delivery after the reset to end', async () => {
        const read = await sandbox.api.get(`/api/v1/webhooks/${id}/deliveries/${deliveryId}`);
        return read.body.data?.status === 'succeeded';
      });
      expect((await sandbox.api.all(`/api/v1/webhooks/${id}/deliveries`)).map((each) => each.id)).toEqual([
        deliveryId,
      ]);
    });
  });

  it('deletes what was answered before its request, and keeps what is requested after its answer', async () => {
    const { live, sandbox } = await place.pair();
    const written: { id: string; begun: number; ended: number }[] = [];
    let over = false;
    /** Far below what a sandbox may write in a minute, even if the reset takes long. */
    let most = 200;
    const writer = async () => {
      while (!over) {
        if (written.length >= most) {
          await until('more to be written', () => over || written.length < most);
          continue;
        }
        const begun = performance.now();
        const id = await sandbox.api.createConversation();
        written.push({ id, begun, ended: performance.now() });
      }
    };
    const writing = Promise.all([writer(), writer(), writer()]);
    const count = (least: number) => until(`${least} writes`, () => written.length >= least);
    await count(20);
    const asked = performance.now();
    expect((await reset(live)).status).toBe(200);
    const answered = performance.now();
    most = written.length + 100;
    await count(written.length + 20);
    over = true;
    await writing;

    const listed = new Set((await sandbox.api.all(CONVERSATIONS)).map(({ id }) => id));
    const [older, newer] = [
      written.filter(({ ended }) => ended < asked),
      written.filter(({ begun }) => begun > answered),
    ];
    expect(Math.min(older.length, newer.length)).toBeGreaterThan(0);
    expect(older.filter(({ id }) => listed.has(id))).toEqual([]);
    expect(newer.filter(({ id }) => !listed.has(id))).toEqual([]);
  });
});
