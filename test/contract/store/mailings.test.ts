import { GetCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { type MailingStore, type MailRequest, mailingStore } from '../../../functions/notices/mailings.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { loseNextAnswer } from './faults.ts';

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

  it('blocks others forever once it is settled without a window', async () => {
    const mailings = mailingStore(await make());
    const sending = aSending({ windowSeconds: Infinity });
    const token = await claimOnce(mailings, sending);
    await mailings.settle(sending, token, NOW);

    expect(await mailings.claim({ ...sending, eventId: 'event-2' }, at(3000 * DAY), LEASE)).toEqual({
      kind: 'within-window',
    });
  });

  it('restores the previous state when it is released', async () => {
    const mailings = mailingStore(await make());
    const sending = aSending();
    const second = { ...sending, eventId: 'event-2' };
    await mailings.settle(sending, await claimOnce(mailings, sending), NOW);
    const token = await claimOnce(mailings, second, at(DAY));
    expect(await mailings.release(second, token)).toBe(true);

    expect(await mailings.state(sending, at(DAY))).toBe('done');
    expect(await mailings.state(second, at(DAY - 1))).toBe('within-window');
    expect(await mailings.state(second, at(DAY))).toBe('free');
  });

  it('counts as sent with an unknown outcome when its lease ends', async () => {
    const mailings = mailingStore(await make());
    const sending = aSending();
    const other = { ...sending, eventId: 'event-2' };
    await claimOnce(mailings, sending);

    expect(await mailings.claim(sending, at(LEASE - 1), LEASE)).toEqual({ kind: 'busy' });
    expect(await mailings.claim(sending, at(LEASE), LEASE)).toEqual({ kind: 'unknown' });
    expect(await mailings.claim(other, at(LEASE), LEASE)).toEqual({ kind: 'within-window' });
    expect(await mailings.claim(other, at(LEASE + DAY - 1), LEASE)).toEqual({ kind: 'within-window' });
    expect(await mailings.claim(other, at(LEASE + DAY), LEASE)).toMatchObject({ kind: 'claimed' });
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
