import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/domain/ids.ts';
import {
  buildBudgetMailKey,
  type DueDigest,
  MAX_DIGEST_SOURCES,
  type MailLimits,
  toDay,
} from '../../../functions/domain/mailing.ts';
import type { NotifyPorts } from '../../../functions/engine/notifications.ts';
import type { DigestPorts } from '../../../functions/engine/schedule-source-checks.ts';
import { keys } from '../../../functions/store/keys.ts';
import { dueDigests, mailBudgets } from '../../../functions/store/mail-budgets.ts';
import { Contended } from '../../../functions/store/transaction.ts';
import { aTenant, later, NOW, seconds } from '../../builders.ts';
import { MemoryMailBudgets } from '../../doubles/memory-mail-budgets.ts';
import { dynamoDb } from '../../engines.ts';
import { rowsIn } from './rows.ts';

const engine = dynamoDb();

type Kind = NotifyPorts['budgets'] & {
  due: DigestPorts['due'];
  /** Recipients that were counted. */
  spent(owner: string): Promise<number>;
};

const KINDS: [name: string, make: (limits: Partial<MailLimits>) => Promise<Kind>][] = [
  [
    'memory',
    async (limits) => {
      const budgets = new MemoryMailBudgets({ ...GENEROUS, ...limits });
      const { admit, admitDigest, close, finish, due } = budgets;
      return { admit, admitDigest, close, finish, due, spent: async (owner) => budgets.spent(owner, TODAY) };
    },
  ],
  [
    'dynamodb',
    async (limits) => {
      const { mailings } = await engine.tables();
      return {
        ...mailBudgets(mailings, { ...GENEROUS, ...limits }),
        due: dueDigests(mailings),
        async spent(owner) {
          const pk =
            owner === 'stage'
              ? keys.stageMailing(buildBudgetMailKey(TODAY))
              : keys.mailing(owner as `org_${string}`, buildBudgetMailKey(TODAY)).pk;
          return Number((await rowsIn(mailings)).find((row) => row.pk === pk)?.recipients ?? 0);
        },
      };
    },
  ],
];

const GENEROUS = { organization: 1000, stage: 1000 };
const TODAY = toDay(NOW);
const DAY = 86_400;
const tenant = aTenant();
const one = async () => 1;

const aRequest = (changes: Partial<{ url: string; difference: number; version: number }> = {}) => {
  const sourceId = newId('src', NOW);
  const { version = 2, url = `https://www.example.com/${sourceId}`, difference = 40 } = changes;
  return {
    ...tenant,
    eventId: `${sourceId}#changed#${version}`,
    change: { sourceId, version, url, kind: 'url' as const, difference },
  };
};
const many = (count: number) => Array.from({ length: count }, () => aRequest());

describe.each(KINDS)('the e-mail budget (%s)', (_, make) => {
  it('admits exactly its limit of concurrent requests, and leaves all others to the digest', async () => {
    const budgets = await make({ organization: 7 });
    const requests = many(25);

    const decided = await Promise.all(
      requests.map(async (request) => {
        // A contended decision is retried with its message.
        for (;;)
          try {
            return await budgets.admit(request, one, NOW);
          } catch (error) {
            if (!(error instanceof Contended)) throw error;
          }
      }),
    );

    expect(decided.filter(({ decision }) => decision === 'notice')).toHaveLength(7);
    expect(await budgets.spent(tenant.orgId)).toBe(7);
    expect(await budgets.spent('stage')).toBe(7);
    expect((await budgets.close(tenant, TODAY, NOW))?.changes).toBe(18);
  });

  it('decides about an event once when it is repeated', async () => {
    const budgets = await make({ organization: 1 });
    const [first, second] = [aRequest(), aRequest()];
    for (let times = 0; times < 3; times += 1) {
      expect(await budgets.admit(first, one, NOW)).toMatchObject({ decision: 'notice' });
      expect(await budgets.admit(second, one, NOW)).toMatchObject({ decision: 'digest' });
    }

    expect(await budgets.spent(tenant.orgId)).toBe(1);
    expect((await budgets.close(tenant, TODAY, NOW))?.changes).toBe(1);
  });

  it('counts recipients, and refuses an e-mail to more than are left', async () => {
    const budgets = await make({ organization: 5 });
    expect(await budgets.admit(aRequest(), async () => 4, NOW)).toEqual({ decision: 'notice' });
    expect(await budgets.admit(aRequest(), async () => 2, NOW)).toEqual({
      decision: 'digest',
      refusedBy: 'mail-budget',
    });

    const late = await budgets.admit(
      aRequest(),
      async () => expect.unreachable('recipients must not be read'),
      NOW,
    );
    expect(late).toEqual({ decision: 'digest' });
    expect(await budgets.admit({ ...aRequest(), ...aTenant() }, async () => 6, NOW)).toMatchObject({
      decision: 'digest',
    });
  });

  it('is new each day, also for a notice that could not be sent the day before', async () => {
    const budgets = await make({ organization: 1 });
    const [first, second] = [aRequest(), aRequest()];
    await budgets.admit(first, one, NOW);
    await budgets.admit(second, one, NOW);
    const tomorrow = later(NOW, seconds(DAY));

    expect(await budgets.admit(first, one, tomorrow)).toEqual({ decision: 'notice' });
    expect(await budgets.admit(second, one, tomorrow)).toEqual({ decision: 'digest' });
    expect(await budgets.close(tenant, toDay(tomorrow), tomorrow)).toBeUndefined();
  });

  it('has a ceiling for all organizations of the stage, digests included', async () => {
    const budgets = await make({ stage: 2 });
    const at = () => ({ ...aRequest(), ...aTenant() });
    expect(await budgets.admit(at(), one, NOW)).toEqual({ decision: 'notice' });
    const digest = { ...tenant, eventId: 'a digest' };
    expect(await budgets.admitDigest(digest, 1, NOW)).toBe(true);
    expect(await budgets.admitDigest(digest, 1, NOW)).toBe(true);

    expect(await budgets.admit(at(), one, NOW)).toEqual({ decision: 'digest', refusedBy: 'mail-ceiling' });
    expect(await budgets.admitDigest({ ...aTenant(), eventId: 'another digest' }, 1, NOW)).toBe(false);
    expect(await budgets.spent('stage')).toBe(2);
  });
});

describe.each(KINDS)('a digest (%s)', (_, make) => {
  const FULL = { organization: 1 };
  const two = async () => 2;

  it('has for each source the number of changes, the greatest one and the latest version', async () => {
    const budgets = await make(FULL);
    const first = aRequest({ difference: 30, version: 2 });
    const { sourceId } = first.change;
    const again = {
      ...first,
      eventId: `${sourceId}#changed#3`,
      change: { ...first.change, version: 3, difference: 90 },
    };
    for (const request of [again, first, aRequest({ difference: 50 })])
      await budgets.admit(request, two, NOW);

    const digest = await budgets.close(tenant, TODAY, NOW);

    expect(digest).toMatchObject({ changes: 3, others: { changes: 0, difference: 0 } });
    expect(Object.keys(digest?.sources ?? {})).toHaveLength(2);
    expect(digest?.sources[sourceId]).toMatchObject({ changes: 2, difference: 90, version: 3, kind: 'url' });
  });

  it('names a limited number of sources, and counts the changes of all others', async () => {
    const budgets = await make(FULL);
    for (let index = 0; index < MAX_DIGEST_SOURCES + 3; index += 1)
      await budgets.admit(
        aRequest({ url: `https://a.example/${'x'.repeat(2000)}`, difference: index }),
        two,
        NOW,
      );

    const digest = await budgets.close(tenant, TODAY, NOW);

    expect(Object.keys(digest?.sources ?? {})).toHaveLength(MAX_DIGEST_SOURCES);
    expect(digest?.others).toEqual({ changes: 3, difference: MAX_DIGEST_SOURCES + 2 });
    expect(JSON.stringify(digest).length).toBeLessThan(15_000);
  });

  it('refuses changes once it is closed, so that each change is reported', async () => {
    const budgets = await make(FULL);
    await budgets.admit(aRequest(), two, NOW);
    await budgets.close(tenant, TODAY, NOW);

    await expect(budgets.admit(aRequest(), two, NOW)).rejects.toThrow(Contended);
    expect((await budgets.close(tenant, TODAY, NOW))?.changes).toBe(1);
  });

  it('is due after its day, until it is finished', async () => {
    const budgets = await make(FULL);
    await budgets.admit(aRequest(), two, NOW);
    const midnight = Date.parse(`${TODAY}T00:00:00.000Z`) + DAY * 1000;
    const found = async (at: number): Promise<DueDigest[]> => (await budgets.due.find(new Date(at))).entries;
    expect(await found(midnight - 1)).toEqual([]);
    const [entry, ...others] = await found(midnight + 3_600_000);
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ orgId: tenant.orgId, day: TODAY });
    if (entry === undefined) throw new Error('it is not due');

    const until = midnight + 2 * 3_600_000;
    await budgets.due.postpone(entry, new Date(until));
    await budgets.due.postpone(entry, new Date(until + DAY * 1000));
    expect(await found(until - 1)).toEqual([]);
    expect(await found(until)).toHaveLength(1);

    await budgets.finish(tenant, TODAY);
    await budgets.finish(aTenant(), TODAY);
    expect(await found(until + DAY * 1000)).toEqual([]);
  });
});
