import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { followDeliveries } from '../../../packages/cli/src/listen/follow.ts';
import { createClient } from '../../../packages/sdk/src/index.ts';
import { casesOf } from '../../support/cases.ts';

const START = Date.now();

interface Listed {
  id: string;
  attempts: number;
  status: string;
  createdAt: string;
  request: object | null;
}

/** A sandbox whose deliveries a test adds, in pages of two; it fails as told before each read. */
function aSandbox(
  atRead: (read: number, add: (id: number, changed?: Partial<Listed>) => void) => number | undefined,
) {
  const deliveries = new Map<number, Listed>();
  let reads = 0;
  const add = (id: number, changed: Partial<Listed> = {}) => {
    const createdAt = new Date(START + id * 1000).toISOString();
    const added = { attempts: 1, status: 'succeeded', request: {}, createdAt, ...changed };
    deliveries.set(id, { id: `dlv_${String(id).padStart(4, '0')}`, ...added });
  };
  const client = createClient({
    apiKey: 'ck_sandbox_1',
    baseUrl: 'http://localhost:1',
    maxRetries: 0,
    fetch: async (input) => {
      const { searchParams } = new URL(String(input));
      const cursor = searchParams.get('cursor');
      const status = cursor === null ? atRead(reads++, add) : undefined;
      if (status) return new Response('{}', { status });
      const from = searchParams.get('from') ?? '';
      const all = [...deliveries.values()]
        .filter(({ createdAt, id }) => createdAt >= from && (cursor === null || id < cursor))
        .sort((a, b) => (a.id < b.id ? 1 : -1));
      const nextCursor = all.length > 2 ? all[1]?.id : null;
      return Response.json({ success: true, data: all.slice(0, 2), nextCursor });
    },
  });
  return client;
}

/** Follows for some reads. @returns `id/attempts` of each delivery, in order */
async function follow(
  client: ReturnType<typeof aSandbox>,
  from: Date | undefined,
  onTrouble: () => void = () => undefined,
) {
  const stopped = new AbortController();
  const seen: string[] = [];
  const followed = followDeliveries(client, 'whk_1', {
    from,
    signal: stopped.signal,
    onTrouble,
    onRecovery: () => seen.push('recovered'),
    pollMs: 0,
  });
  try {
    for await (const { id, attempts } of followed) {
      if (attempts === 99) break;
      seen.push(`${Number(id.slice(4))}/${attempts}`);
    }
  } catch (error) {
    seen.push(Object(error).status);
  }
  return seen;
}

describe('following the deliveries of a sandbox', () => {
  it('returns each attempt once, oldest first, also of those that appear late or are attempted again', async () => {
    const client = aSandbox((read, add) => {
      if (read === 0) for (const id of [1, 2, 3, 5]) add(id);
      if (read === 1) add(4);
      if (read === 2) add(200, { status: 'retrying', attempts: 1 });
      if (read === 3) add(400, { request: null, attempts: 0, status: 'pending' });
      if (read === 4) add(200, { attempts: 2 });
      if (read === 5) add(400);
      if (read === 6) add(999, { attempts: 99 });
      return undefined;
    });
    const seen = await follow(client, new Date(START));
    expect(seen).toEqual(['1/1', '2/1', '3/1', '5/1', '4/1', '200/1', '200/2', '400/1']);
  });

  it('begins behind what an endpoint had before, and goes on after an interruption', async () => {
    let troubles = 0;
    const client = aSandbox((read, add) => {
      if (read === 0) add(1);
      if (read === 1 || read === 2) return 503;
      if (read === 3) add(2);
      if (read === 4) add(999, { attempts: 99 });
      return undefined;
    });
    const seen = await follow(client, undefined, () => {
      troubles += 1;
    });
    expect([seen, troubles]).toEqual([['recovered', '2/1'], 1]);
  });

  it('ends with an error that does not pass', async () => {
    expect(
      await follow(
        aSandbox(() => 404),
        new Date(START),
      ),
    ).toEqual([404]);
  });

  it('misses none that appears within its lateness, in any order', async () => {
    const added = fc.array(fc.tuple(fc.nat(50), fc.nat(29)), { minLength: 1, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(added, async (times) => {
        const ids = times.map(([second], index) => second * 100 + index);
        const client = aSandbox((read, add) => {
          for (const [index, [second, at]] of times.entries())
            if (at === read)
              add(second * 100 + index, { createdAt: new Date(START + second * 1000).toISOString() });
          if (read === 31) add(9999, { attempts: 99 });
          return undefined;
        });
        const seen = await follow(client, new Date(START));
        expect(seen.toSorted()).toEqual(ids.map((id) => `${id}/1`).toSorted());
      }),
      { numRuns: casesOf(15, 50) },
    );
  });
});
