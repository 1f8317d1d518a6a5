import { GetCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { Contended } from '../../../functions/aws/transaction.ts';
import { MAIL_BUDGETS, type MailKind } from '../../../functions/notices/mail.ts';
import {
  type MailingStore,
  type MailRequest,
  mailBudgets,
  mailingStore,
} from '../../../functions/notices/mailings.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { loseNextAnswer } from './faults.ts';
import { rowsIn } from './rows.ts';

const engine = dynamoDb();
const make = async () => (await engine.tables()).mailings;

const DAY = 86_400;
const LEASE = 45;
const at = (second: number) => later(NOW, seconds(second));
const aSending = (changes: Partial<MailRequest> = {}): MailRequest => ({
  kind: 'source.changed',
  orgId: newId('org', NOW),
  about: 'mail#something',
  eventId: 'event-1',
  windowSeconds: DAY,
  ...changes,
});

async function claimOnce(mailings: MailingStore, sending: MailRequest, now = NOW): Promise<string> {
  const claim = await mailings.claim(sending, now, LEASE);
  if (claim.kind !== 'claimed') throw new Error(`the claim was ${claim.kind}`);
  return claim.token;
}

describe('the claim of an e-mail', () => {
  it('is done for its event once it is settled, and blocks others for the window', async () => {
    const mailings = mailingStore(await make());
    const sending = aSending();
    const token = await claimOnce(mailings, sending);
    expect(await mailings.settle(sending, token, at(3))).toBe(true);

    const other = { ...sending, eventId: 'event-2' };
    expect(await mailings.state(sending, at(10 * DAY))).toBe('done');
    expect(await mailings.claim(sending, at(10 * DAY), LEASE)).toEqual({ kind: 'done' });
    expect(await mailings.claim(other, at(DAY + 2), LEASE)).toEqual({ kind: 'within-window' });
    expect(await mailings.state(other, at(DAY + 3))).toBe('free');
    expect(await mailings.claim(other, at(DAY + 3), LEASE)).toMatchObject({ kind: 'claimed' });
  });

  it('is neither settled nor released by an earlier worker', async () => {
    const mailings = mailingStore(await make());
    const sending = aSending();
    const other = { ...sending, eventId: 'event-2' };
    const late = await claimOnce(mailings, sending);
    const present = await claimOnce(mailings, other, at(LEASE + DAY));

    expect(await mailings.settle(sending, late, at(LEASE + DAY))).toBe(false);
    expect(await mailings.release(sending, late)).toBe(false);
    expect(await mailings.settle(other, present, at(LEASE + DAY))).toBe(true);
    expect(await mailings.settle(other, present, at(LEASE + DAY))).toBe(false);
  });
});

/** Steps with the e-mails about one subject, at any time. */
const steps = fc.array(
  fc.record({
    elapse: fc.constantFrom(0, 1, LEASE - 1, LEASE, DAY - LEASE, DAY),
    event: fc.constantFrom('event-1', 'event-2', 'event-3'),
    end: fc.constantFrom('settle', 'release', 'nothing', 'look'),
  }),
  { minLength: 1, maxLength: 25 },
);

describe('e-mail claims', () => {
  it('succeed exactly when the e-mail is free', async () => {
    const stored = mailingStore(await make());
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom(0, LEASE, DAY, Infinity), async (all, windowSeconds) => {
        const sending = aSending({ windowSeconds });
        let now = NOW;
        for (const { elapse, event, end } of all) {
          now = later(now, seconds(elapse));
          const asked = { ...sending, eventId: event };
          const state = await stored.state(asked, now);
          if (end === 'look') continue;
          const claim = await stored.claim(asked, now, LEASE);
          expect(claim.kind).toBe(state === 'free' ? 'claimed' : state);
          if (claim.kind !== 'claimed') continue;
          if (end === 'settle') await stored.settle(asked, claim.token, now);
          if (end === 'release') await stored.release(asked, claim.token);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('e-mail claims in the table', () => {
  it('are recognized when the answer is lost and the request repeated', async () => {
    const { mailings } = await engine.tables();
    const client = engine.client();
    const fault = loseNextAnswer(client, 'UpdateItemCommand');
    const sending = aSending();

    expect(await mailingStore({ ...mailings, client }).claim(sending, NOW, LEASE)).toMatchObject({
      kind: 'claimed',
    });
    expect(fault.lost()).toBe(true);
  });

  it('are released when their answer is lost for good', async () => {
    const { mailings } = await engine.tables();
    const client = engine.client();
    let isLost = false;
    client.middlewareStack.add(
      (next) => async (request) => {
        const answer = await next(request);
        if (isLost) return answer;
        isLost = true;
        throw new Error('the answer was lost');
      },
      { step: 'initialize', name: 'loseFirst' },
    );
    const store = mailingStore({ ...mailings, client });
    const sending = aSending();

    await expect(store.claim(sending, NOW, LEASE)).rejects.toThrow('lost');

    expect(await store.claim(sending, NOW, LEASE)).toMatchObject({ kind: 'claimed' });
  });

  it('expire after 90 days, and contain no recipients', async () => {
    const { mailings } = await engine.tables();
    const sending = aSending();
    const store = mailingStore(mailings);
    await store.settle(sending, await claimOnce(store, sending), NOW);

    const { Item } = await mailings.client.send(
      new GetCommand({
        TableName: mailings.name,
        Key: keys.mailing(sending.orgId, sending.about),
        ConsistentRead: true,
      }),
    );
    expect(Item).toEqual({
      ...keys.mailing(sending.orgId, sending.about),
      sentAt: NOW.toISOString(),
      sentFor: sending.eventId,
      expiresAt: NOW.getTime() / 1000 + 90 * DAY,
    });
  });
});

const orgId = newId('org', NOW);
let events = 0;
const aRequest = (changes: Partial<{ orgId: typeof orgId; kind: MailKind }> = {}) => {
  events += 1;
  return { orgId, kind: 'source.changed' as MailKind, eventId: `event-${events}`, ...changes };
};
const elsewhere = () => ({ orgId: newId('org', NOW) });

describe('the e-mail budget', () => {
  const budgetsOf = async (content: Partial<{ organization: number; stage: number }>) => {
    const table = await make();
    return {
      ...mailBudgets(table, {
        ...MAIL_BUDGETS,
        'source.changed': { organization: 1000, stage: 1000, ...content },
      }),
      async spent() {
        const pk = keys.stageMailing(`mail#budget#${NOW.toISOString().slice(0, 10)}`);
        return Number((await rowsIn(table)).find((row) => row.pk === pk)?.recipients ?? 0);
      },
    };
  };

  it('admits exactly its limit of concurrent requests', async () => {
    const budgets = await budgetsOf({ organization: 7 });
    const admissions = await Promise.all(
      Array.from({ length: 25 }, async () => {
        const request = aRequest();
        // A contended decision is retried with its message.
        for (;;)
          try {
            return await budgets.admit(request, 1, NOW);
          } catch (error) {
            if (!(error instanceof Contended)) throw error;
          }
      }),
    );

    expect(admissions.filter((admission) => admission === 'send')).toHaveLength(7);
    expect(await budgets.spent()).toBe(7);
  });

  it('admits a repeated event again without counting it, also when the budget is used up', async () => {
    const budgets = await budgetsOf({ organization: 1 });
    const first = aRequest();
    expect(await budgets.find(first, NOW)).toBe('open');
    expect(await budgets.admit(first, 1, NOW)).toBe('send');
    expect(await budgets.find(first, NOW)).toBe('admitted');
    expect(await budgets.admit(aRequest(), 1, NOW)).toBe('over-budget');
    expect(await budgets.admit(first, 1, NOW)).toBe('send');
    expect(await budgets.spent()).toBe(1);
  });

  it('is closed for the day by an e-mail to more than are left', async () => {
    const budgets = await budgetsOf({ organization: 5 });
    expect(await budgets.admit(aRequest(), 4, NOW)).toBe('send');
    expect(await budgets.admit(aRequest(), 2, NOW)).toBe('over-budget');
    expect(await budgets.find(aRequest(), NOW)).toBe('closed');
    expect(await budgets.find(aRequest({ kind: 'webhook.failing' }), NOW)).toBe('open');
  });

  it('admits the first e-mail of a day to any number of admins, and then no other', async () => {
    const budgets = await budgetsOf({ organization: 5 });
    expect(await budgets.admit(aRequest(), 120, NOW)).toBe('send');
    expect(await budgets.admit(aRequest(), 120, NOW)).toBe('over-budget');
  });

  it('is new each day, also for an e-mail that could not be sent the day before', async () => {
    const budgets = await budgetsOf({ organization: 1 });
    const [first, second] = [aRequest(), aRequest()];
    await budgets.admit(first, 1, NOW);
    await budgets.admit(second, 1, NOW);
    const tomorrow = later(NOW, seconds(DAY));

    expect(await budgets.admit(first, 1, tomorrow)).toBe('send');
    expect(await budgets.admit(second, 1, tomorrow)).toBe('over-budget');
  });

  it('is separate for each kind and each organization', async () => {
    const budgets = await budgetsOf({ organization: 1 });
    await budgets.admit(aRequest(), 1, NOW);
    expect(await budgets.admit(aRequest(), 1, NOW)).toBe('over-budget');

    expect(await budgets.admit(aRequest({ kind: 'webhook.failing' }), 1, NOW)).toBe('send');
    expect(await budgets.admit(aRequest({ kind: 'webhook.disabled' }), 1, NOW)).toBe('send');
    expect(await budgets.admit(aRequest(elsewhere()), 1, NOW)).toBe('send');
  });

  it('leaves the rest of the quota to e-mail about endpoints, which counts too', async () => {
    const budgets = await budgetsOf({ stage: 2 });
    const disabling = () => aRequest({ kind: 'webhook.disabled', ...elsewhere() });
    expect(await budgets.admit(aRequest(), 1, NOW)).toBe('send');
    expect(await budgets.admit(disabling(), 1, NOW)).toBe('send');

    expect(await budgets.admit(aRequest(elsewhere()), 1, NOW)).toBe('over-ceiling');
    expect(await budgets.admit(aRequest(elsewhere()), 3, NOW)).toBe('over-ceiling');
    expect(await budgets.admit(disabling(), 1, NOW)).toBe('send');
    expect(await budgets.spent()).toBe(3);
  });
});
