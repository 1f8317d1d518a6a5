import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/domain/ids.ts';
import {
  buildMailBudgets,
  buildStageBudgetMailKey,
  type MailKind,
  toDay,
} from '../../../functions/domain/mailing.ts';
import { keys } from '../../../functions/store/keys.ts';
import { mailBudgets } from '../../../functions/store/mail-budgets.ts';
import { Contended } from '../../../functions/store/transaction.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { mailingKinds } from './mailing-kinds.ts';
import { rowsIn } from './rows.ts';

const engine = dynamoDb();
const DAY = 86_400;
const orgId = newId('org', NOW);
const one = async () => 1;
const notRead = async () => expect.unreachable('admins must not be read');
let events = 0;
const aRequest = (changes: Partial<{ orgId: typeof orgId; kind: MailKind }> = {}) => {
  events += 1;
  return { orgId, kind: 'source.changed' as MailKind, eventId: `event-${events}`, ...changes };
};
const elsewhere = () => ({ orgId: newId('org', NOW) });

describe.each(mailingKinds(engine))('the e-mail budget (%s)', (_, make) => {
  const budgetsOf = async (content: Partial<{ organization: number; stage: number }>) => {
    const table = await make();
    return {
      ...mailBudgets(table, buildMailBudgets({ organization: 1000, stage: 1000, ...content })),
      async spent() {
        const pk = keys.stageMailing(buildStageBudgetMailKey(toDay(NOW)));
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
            return await budgets.admit(request, one, NOW);
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
    expect(await budgets.admit(first, one, NOW)).toBe('send');
    expect(await budgets.admit(aRequest(), one, NOW)).toBe('over-budget');
    expect(await budgets.admit(first, one, NOW)).toBe('send');
    expect(await budgets.spent()).toBe(1);
  });

  it('refuses an e-mail to more than are left, and all further ones of the day without reading admins', async () => {
    const budgets = await budgetsOf({ organization: 5 });
    expect(await budgets.admit(aRequest(), async () => 4, NOW)).toBe('send');
    expect(await budgets.admit(aRequest(), async () => 2, NOW)).toBe('over-budget');
    expect(await budgets.admit(aRequest(), notRead, NOW)).toBe('over-budget');
  });

  it('admits the first e-mail of a day to any number of admins, and then no other', async () => {
    const budgets = await budgetsOf({ organization: 5 });
    expect(await budgets.admit(aRequest(), async () => 0, NOW)).toBe('send');
    expect(await budgets.admit(aRequest(), async () => 120, NOW)).toBe('send');
    expect(await budgets.admit(aRequest(), async () => 120, NOW)).toBe('over-budget');
  });

  it('is new each day, also for an e-mail that could not be sent the day before', async () => {
    const budgets = await budgetsOf({ organization: 1 });
    const [first, second] = [aRequest(), aRequest()];
    await budgets.admit(first, one, NOW);
    await budgets.admit(second, one, NOW);
    const tomorrow = later(NOW, seconds(DAY));

    expect(await budgets.admit(first, one, tomorrow)).toBe('send');
    expect(await budgets.admit(second, one, tomorrow)).toBe('over-budget');
  });

  it('is separate for each kind and each organization', async () => {
    const budgets = await budgetsOf({ organization: 1 });
    await budgets.admit(aRequest(), one, NOW);
    expect(await budgets.admit(aRequest(), one, NOW)).toBe('over-budget');

    expect(await budgets.admit(aRequest({ kind: 'webhook.failing' }), one, NOW)).toBe('send');
    expect(await budgets.admit(aRequest({ kind: 'webhook.disabled' }), one, NOW)).toBe('send');
    expect(await budgets.admit(aRequest(elsewhere()), one, NOW)).toBe('send');
  });

  it('leaves the rest of the quota to e-mail about endpoints, which counts too', async () => {
    const budgets = await budgetsOf({ stage: 2 });
    const disabling = () => aRequest({ kind: 'webhook.disabled', ...elsewhere() });
    expect(await budgets.admit(aRequest(), one, NOW)).toBe('send');
    expect(await budgets.admit(disabling(), one, NOW)).toBe('send');

    expect(await budgets.admit(aRequest(elsewhere()), one, NOW)).toBe('over-ceiling');
    expect(await budgets.admit(aRequest(elsewhere()), async () => 3, NOW)).toBe('over-ceiling');
    expect(await budgets.admit(disabling(), one, NOW)).toBe('send');
    expect(await budgets.spent()).toBe(3);
  });
});
