import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BusEvent } from '../../../functions/domain/bus.ts';
import { newId } from '../../../functions/domain/ids.ts';
import { toDay } from '../../../functions/domain/mailing.ts';
import { sendDueDigests } from '../../../functions/engine/schedule-source-checks.ts';
import { aTenant, NOW } from '../../builders.ts';
import { aChange, aDisabling, admins, aNotifier, DAY, LEASE, REFUSED, UNKNOWN } from './a-notifier.ts';

const isDigest = ({ subject }: { subject: string }) => subject.startsWith('Content changes in more');
const isNotice = ({ subject }: { subject: string }) => subject.startsWith('Content changed by');
const isDisabling = ({ subject }: { subject: string }) => subject.includes('disabled');

/** An organization whose mailbox takes `budget` e-mails a day, and the queue of its digests. */
function aMailbox({ budget, ceiling = 1_000_000 }: { budget: number; ceiling?: number }) {
  const notifier = aNotifier({ limits: { organization: budget, stage: ceiling } });
  const queue: BusEvent[] = [];
  const sweep = sendDueDigests({
    due: notifier.budgets.due,
    mails: {
      send: async (events) => {
        queue.push(...events);
        return [];
      },
    },
    log: notifier.log,
    now: notifier.clock.now,
  });
  return {
    ...notifier,
    queue,
    /** Sends due digests to the queue, and processes their messages. */
    async passTime(seconds: number): Promise<void> {
      notifier.clock.elapse(seconds);
      await sweep(() => true);
      for (const event of queue.splice(0)) await notifier.run(event).catch(() => undefined);
    },
  };
}

const command = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('change' as const), url: fc.nat(12) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('disabling' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('repeat' as const), nth: fc.nat(50) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('time' as const), hours: fc.integer({ min: 1, max: 30 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('result' as const), result: fc.constantFrom(REFUSED, UNKNOWN) }),
  },
);

describe('content e-mails of an organization', () => {
  it('never exceed its daily budget, and one digest has every change that was left out', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { maxLength: 60 }),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 3 }),
        async (commands, budget, people) => {
          const mailbox = aMailbox({ budget });
          mailbox.people.admins = admins(people);
          const tenant = aTenant();
          const events: BusEvent[] = [];
          let disablings = 0;
          const run = (event: BusEvent) => mailbox.untilDone(event, mailbox.run);
          for (const each of commands) {
            if (each.kind === 'change') {
              const url = `https://www.example.com/${each.url}`;
              events.push(aChange({ tenant, url, sourceId: newId('src', NOW) }));
              await run(events.at(-1) as BusEvent);
            } else if (each.kind === 'disabling') {
              mailbox.results.splice(0);
              disablings += 1;
              await run(aDisabling({ tenant }));
            } else if (each.kind === 'repeat') {
              const event = events[each.nth % Math.max(1, events.length)];
              if (event) await run(event);
            } else if (each.kind === 'time') await mailbox.passTime(each.hours * 3600);
            else mailbox.results.push(each.result);
          }
          mailbox.results.splice(0);
          await mailbox.passTime(2 * DAY);

          const spent = new Map<string, number>();
          for (const { at, to } of mailbox.sent.filter(isNotice))
            spent.set(toDay(at), (spent.get(toDay(at)) ?? 0) + to.length);
          for (const recipients of spent.values()) expect(recipients).toBeLessThanOrEqual(budget);
          expect(mailbox.sent.filter(isDisabling)).toHaveLength(disablings);
          // Each digest was sent once, or its outcome is unknown.
          const digests = mailbox.budgets.digests();
          expect(mailbox.counts.digested).toBeGreaterThanOrEqual(
            digests.reduce((sum, { changes }) => sum + changes, 0),
          );
          const said = mailbox.sent.filter(isDigest).map(({ subject }) => subject.split(': ')[1]);
          expect(new Set(said).size).toBe(said.length);
          for (const { day, dueAt } of digests) {
            expect(dueAt).toBeUndefined();
            expect(said.filter((each) => each === day).length + mailbox.counts.unknown).toBeGreaterThan(0);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it('of sixty changes fill the budget, and one digest counts the others', async () => {
    const mailbox = aMailbox({ budget: 20 });
    const tenant = aTenant();
    for (let index = 0; index < 60; index += 1) {
      await mailbox.run(
        aChange({ tenant, url: `https://www.example.com/${index}`, sourceId: newId('src', NOW) }),
      );
      if (index === 30) await mailbox.run(aDisabling({ tenant }));
    }
    expect(mailbox.sent.filter(isNotice)).toHaveLength(20);
    expect(mailbox.sent.filter(isDisabling)).toHaveLength(1);
    expect(mailbox.counts.digested).toBe(40);
    // Once the day's digest has begun, no admin is read for the changes that go into it.
    expect(mailbox.asked).toHaveLength(20 + 1 + 1);

    await mailbox.passTime(DAY + 3600);
    await mailbox.passTime(3 * DAY);

    const [digest, ...others] = mailbox.sent.filter(isDigest);
    expect(others).toEqual([]);
    expect(digest?.text).toContain('40 further changes');
    expect(digest?.text).toContain('https://www.example.com/21');
    expect(digest?.text).toContain('15 changes, up to 40%');
  });
});

describe('digest', () => {
  it('marks its versions as notified, and starts the 24 hours of its URLs', async () => {
    const mailbox = aMailbox({ budget: 1 });
    const tenant = aTenant();
    const sourceId = newId('src', NOW);
    await mailbox.run(aChange({ tenant, url: 'https://www.example.com/first' }));
    await mailbox.run(aChange({ tenant, sourceId, version: 7 }));
    expect(mailbox.notified).toHaveLength(1);

    await mailbox.passTime(DAY + 3600);

    expect(mailbox.notified.map(({ version }) => version)).toEqual([2, 7]);
    await mailbox.run(aChange({ tenant, sourceId, version: 8 }));
    expect(mailbox.sent.filter(isNotice)).toHaveLength(1);
    mailbox.clock.elapse(DAY);
    await mailbox.run(aChange({ tenant, sourceId, version: 9 }));
    expect(mailbox.sent.filter(isNotice)).toHaveLength(2);
  });

  it.each([
    ['a refusal', { results: [REFUSED], mails: 1 }],
    ['an unknown outcome', { results: [UNKNOWN], mails: 0 }],
  ])('is sent at most once in spite of %s', async (_, { results, mails }) => {
    const mailbox = aMailbox({ budget: 1 });
    const tenant = aTenant();
    for (const url of ['a', 'b'])
      await mailbox.run(aChange({ tenant, url: `https://www.example.com/${url}` }));
    mailbox.results.push(...results);

    for (let times = 0; times < 4; times += 1) await mailbox.passTime(DAY);

    expect(mailbox.sent.filter(isDigest)).toHaveLength(mails);
    expect(mailbox.budgets.digests().map(({ dueAt }) => dueAt)).toEqual([undefined]);
  });

  it('is sent after a worker is lost before the claim, and only once if one is lost after it', async () => {
    const mailbox = aMailbox({ budget: 1 });
    const tenant = aTenant();
    for (const url of ['a', 'b'])
      await mailbox.run(aChange({ tenant, url: `https://www.example.com/${url}` }));
    const lost = () => Promise.reject(new Error('the worker was lost'));
    const { claim, settle } = mailbox.ports.mailings;
    mailbox.ports.mailings = { ...mailbox.ports.mailings, claim: lost };
    const run = mailbox.runWith({ mailings: mailbox.ports.mailings });
    mailbox.clock.elapse(DAY + 3600);
    const event = { ...aDisabling({ tenant }), type: 'source.digest', data: { day: toDay(NOW) } };
    await expect(run(event)).rejects.toThrow('lost');
    expect(mailbox.sent.filter(isDigest)).toEqual([]);

    mailbox.ports.mailings = { ...mailbox.ports.mailings, claim, settle: lost };
    await mailbox.runWith({ mailings: mailbox.ports.mailings })(event);
    mailbox.clock.elapse(LEASE);
    await mailbox.runWith({ mailings: { ...mailbox.ports.mailings, settle } })(event);

    expect(mailbox.sent.filter(isDigest)).toHaveLength(1);
  });

  it('waits for another day when all organizations have used up the e-mails of the day', async () => {
    const mailbox = aMailbox({ budget: 1, ceiling: 1 });
    const tenant = aTenant();
    for (const url of ['a', 'b'])
      await mailbox.run(aChange({ tenant, url: `https://www.example.com/${url}` }));
    mailbox.clock.elapse(DAY);
    await mailbox.run(aChange({ url: 'https://www.example.com/of-another' }));
    await mailbox.passTime(3600);
    expect(mailbox.sent.filter(isDigest)).toEqual([]);
    expect(mailbox.counts.ceiling).toBe(1);
    await mailbox.run(aDisabling({ tenant }));
    expect(mailbox.sent.filter(isDisabling)).toHaveLength(1);

    await mailbox.passTime(DAY);
    expect(mailbox.sent.filter(isDigest).length).toBeGreaterThan(0);
  });

  it('replaces each e-mail to more than fifty admins, even when the event is repeated', async () => {
    const mailbox = aMailbox({ budget: 1 });
    mailbox.people.admins = admins(60);
    const event = aChange();
    await mailbox.run(event);
    await mailbox.passTime(DAY + 3600);
    for (let times = 0; times < 3; times += 1) {
      await mailbox.run(event);
      mailbox.clock.elapse(DAY);
    }

    expect(mailbox.sent.map(({ to }) => to.length)).toEqual([50, 10]);
    expect(mailbox.sent.every(isDigest)).toBe(true);
  });

  it('is not sent to an organization that has turned such e-mails off', async () => {
    const mailbox = aMailbox({ budget: 1 });
    const tenant = aTenant();
    for (const url of ['a', 'b'])
      await mailbox.run(aChange({ tenant, url: `https://www.example.com/${url}` }));
    mailbox.organization.contentChangeNotifications = false;

    await mailbox.passTime(2 * DAY);

    expect(mailbox.sent.filter(isDigest)).toEqual([]);
    expect(mailbox.budgets.digests().map(({ dueAt }) => dueAt)).toEqual([undefined]);
  });
});
