import { describe, expect, it } from 'vitest';
import { EXPIRY_SECONDS } from '../../../functions/delivery/timing.ts';
import { DUE_SHARDS, keys, listShards } from '../../../functions/tenancy/keys.ts';
import { aReconciler, IN_FULL, inSeconds } from './reconciler-fixture.ts';

const throttled = () => new Error('the table is throttled');

describe('unreadable shard of the due index', () => {
  it('does not delay the other shards, and fails the run', async () => {
    const { runWith, put, due, sent, log } = aReconciler({ isSharded: true });
    const first = await put('parked', inSeconds(0));
    const broken = listShards(DUE_SHARDS).find(
      (shard) => keys.due('parked', shard) === keys.dueOf('parked', first.id),
    );
    const run = runWith({
      due: {
        find: async (state, shard, ...search) => {
          if (state === 'parked' && shard === broken) throw throttled();
          return due.find(state, shard, ...search);
        },
        postpone: (...entry) => due.postpone(...entry),
        expire: (...expiry) => due.expire(...expiry),
      },
    });
    const others: string[] = [];
    for (let count = 0; count < 100; count += 1) {
      const parked = await put('parked', inSeconds(0));
      if (keys.dueOf('parked', parked.id) !== keys.dueOf('parked', first.id)) others.push(parked.id);
      others.push((await put('watched', inSeconds(0))).id);
    }

    await expect(run(IN_FULL)).rejects.toThrow('the table is throttled');

    expect(sent().toSorted()).toEqual(others.toSorted());
    expect(log.entries).toMatchObject([{ level: 'error', fields: { state: 'parked', shard: broken } }]);
  });
});

describe('unreadable row of the due index', () => {
  it('does not delay the other rows of its page, and fails the run', async () => {
    const { runWith, put, due, sent, log } = aReconciler();
    const late = await put('watched', inSeconds(-1));
    const row = { pk: 'whk_x', sk: 'dlv_x', error: new Error('no event') };
    const run = runWith({
      due: {
        find: async (state, shard, ...search) => {
          const page = await due.find(state, shard, ...search);
          return state === 'watched' && shard === 0 ? { ...page, unreadable: [row] } : page;
        },
        postpone: (...entry) => due.postpone(...entry),
        expire: (...expiry) => due.expire(...expiry),
      },
    });

    await expect(run(IN_FULL)).rejects.toThrow('no event');

    expect(sent()).toEqual([late.id]);
    expect(log.entries).toMatchObject([{ code: 'DUE_ROW_UNREADABLE', fields: { pk: 'whk_x', sk: 'dlv_x' } }]);
  });
});

describe('expired delivery that cannot be ended', () => {
  it('does not delay the others, and is due again', async () => {
    const { run, runWith, put, due, sent, log } = aReconciler();
    const expired = await put('watched', inSeconds(-2), { born: inSeconds(-EXPIRY_SECONDS - 1) });
    const late = await put('watched', inSeconds(-1));
    const failing = runWith({
      due: {
        find: (...search) => due.find(...search),
        postpone: (...entry) => due.postpone(...entry),
        async expire() {
          throw throttled();
        },
      },
    });

    expect(await failing(IN_FULL)).toMatchObject({ expired: 0, resent: 1 });

    expect(sent()).toEqual([late.id]);
    expect(log.entries).toMatchObject([{ level: 'warn', fields: { deliveryId: expired.id } }]);
    expect(await run(IN_FULL)).toMatchObject({ expired: 1 });
  });
});
