import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { Contended } from '../../../functions/aws/transaction.ts';
import { MAIL_BUDGETS, type MailKind } from '../../../functions/notices/mail.ts';
import { mailBudgets } from '../../../functions/notices/mailings.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { rowsIn } from './rows.ts';

const engine = dynamoDb();
const make = async () => (await engine.tables()).mailings;
const DAY = 86_400;
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
