import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import type { BusEvent } from '../../../functions/events/bus.ts';
import { MAIL_BUDGETS, type MailKind } from '../../../functions/notices/mail.ts';
import { aTenant, NOW } from '../../builders.ts';
import { aChange, aDisabling, admins, aNotifier, aWarning, REFUSED, UNKNOWN } from './notifier-fixture.ts';

type Tenant = ReturnType<typeof aTenant>;

/** An event of each kind about something new, as a loop of API calls can cause any number of. */
const CAUSES: Record<MailKind, (tenant: Tenant, notifier: ReturnType<typeof aNotifier>) => BusEvent> = {
  'source.changed': (tenant) => {
    const sourceId = newId('src', NOW);
    return aChange({ tenant, sourceId, url: `https://www.example.com/${sourceId}` });
  },
  'webhook.failing': (tenant, { register }) => {
    const id = newId('whk', NOW);
    register({ id, consecutiveFailures: 5 });
    return aWarning(id, { tenant });
  },
  'webhook.disabled': (tenant) => aDisabling({ tenant, webhookId: newId('whk', NOW) }),
};
const KINDS = Object.keys(CAUSES) as MailKind[];

const toDay = (time: Date): string => time.toISOString().slice(0, 10);

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ cause: fc.constantFrom(...KINDS), times: fc.integer({ min: 1, max: 30 }) }),
  },
  { weight: 1, arbitrary: fc.record({ repeat: fc.nat(50) }) },
  { weight: 1, arbitrary: fc.record({ hours: fc.integer({ min: 1, max: 30 }) }) },
  { weight: 1, arbitrary: fc.record({ result: fc.constantFrom(REFUSED, UNKNOWN) }) },
);

describe('e-mails to the admins of an organization', () => {
  it('never exceed the budgets of a day', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 30 }),
        fc.constantFrom(1, 3, 60, 120),
        async (steps, people) => {
          const notifier = aNotifier();
          notifier.people.admins = admins(people);
          const tenant = aTenant();
          const events: BusEvent[] = [];
          for (const stepTaken of steps) {
            if ('hours' in stepTaken) notifier.clock.elapse(stepTaken.hours * 3600);
            else if ('result' in stepTaken) notifier.results.push(stepTaken.result);
            else if ('repeat' in stepTaken) {
              const event = events[stepTaken.repeat];
              if (event) await notifier.untilDone(event);
            } else
              for (let times = 0; times < stepTaken.times; times += 1) {
                events.push(CAUSES[stepTaken.cause](tenant, notifier));
                await notifier.untilDone(events.at(-1) as BusEvent);
              }
          }
          const spent = new Map<string, number>();
          for (const { at, to } of notifier.sent)
            spent.set(toDay(at), (spent.get(toDay(at)) ?? 0) + to.length);
          const most = KINDS.reduce(
            (sum, kind) => sum + Math.max(MAIL_BUDGETS[kind].organization, people),
            0,
          );
          for (const recipients of spent.values()) expect(recipients).toBeLessThanOrEqual(most);
        },
      ),
      { numRuns: 40 },
    );
  });

  it.each(KINDS)('of kind %s beyond its budget are counted and logged, and not sent later', async (kind) => {
    const notifier = aNotifier();
    notifier.people.admins = admins(10);
    const tenant = aTenant();
    const { organization } = MAIL_BUDGETS[kind];
    const events = Array.from({ length: organization / 10 + 2 }, () => CAUSES[kind](tenant, notifier));
    for (const event of events) await notifier.run(event);

    expect(notifier.sent).toHaveLength(organization / 10);
    expect(notifier.counts.overBudget).toBe(2);
    // The first refusal closes the budget: no admins are read for the others.
    expect(notifier.asked).toHaveLength(organization / 10 + 1);
    const logged = notifier.log.entries.filter(({ code }) => code === 'MAIL_OVER_BUDGET');
    expect(logged.map(({ fields }) => fields?.eventId)).toEqual(events.slice(-2).map(({ id }) => id));
  });

  it('about content wait for no other organization, and tell the operator of a used-up ceiling', async () => {
    const notifier = aNotifier({ content: { organization: 100, stage: 1 } });
    const [first, second] = [aTenant(), aTenant()];
    await notifier.run(CAUSES['source.changed'](first, notifier));
    await notifier.run(CAUSES['source.changed'](second, notifier));
    await notifier.run(CAUSES['webhook.disabled'](second, notifier));

    expect(notifier.sent.map(({ subject }) => subject.split(' ')[0])).toEqual(['Content', 'Webhook']);
    expect(notifier.counts).toMatchObject({ overBudget: 1, ceiling: 1 });
  });
});
