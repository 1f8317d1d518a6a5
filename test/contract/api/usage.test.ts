import { describe, expect, it } from 'vitest';
import { getLatestMonths, type MeteredEvent, usageMeter } from '../../../functions/events/usage.ts';
import { aBusEvent } from '../../builders.ts';
import { aPermit } from '../../unit/delivery/outbound/permit.ts';
import type { Data } from '../store/api-handlers.ts';
import { useApi } from './owners.ts';

const { tables, enrol } = useApi();

/** A new live organization with the given usage by month, and a client that reads it with its session. */
async function anOrganizationWithUsage(messagesIn: Readonly<Record<string, number>>) {
  const { orgId: id, admin } = await enrol();
  const permit = await aPermit(id);
  for (const [month, messages] of Object.entries(messagesIn)) {
    const createdAt = `${month}-15T12:00:00.000Z`;
    const types = [
      'conversation.created',
      ...Array<'message.received'>(messages).fill('message.received'),
    ] as const;
    const events = types.map((type): MeteredEvent => ({ id: aBusEvent().id, type, createdAt }));
    await usageMeter(tables.usage).count(events, permit);
  }
  const read = async (query: Record<string, string> = {}) =>
    (await admin('readUsage', { query })) as { organizationId: string; months: Data[] };
  return { id, read };
}

/** A test that runs over the end of a month sees two months, so it reads the month before and after. */
async function within<T>(look: (months: string[]) => Promise<T>): Promise<T> {
  const before = getLatestMonths(new Date(), 25);
  const seen = await look(before);
  const [now] = getLatestMonths(new Date(), 1);
  return now === before[0] ? seen : look(getLatestMonths(new Date(), 25));
}

describe('a read of the usage', () => {
  it('shows the requested months, newest first, including those without usage', async () => {
    await within(async (months) => {
      const [now = '', , before = '', , , long = ''] = months;
      const { id, read } = await anOrganizationWithUsage({ [now]: 3, [before]: 70, [long]: 1 });

      expect(await read({ months: '3' })).toEqual({
        organizationId: id,
        months: [
          { month: now, conversations: 1, messages: 3 },
          { month: months[1], conversations: 0, messages: 0 },
          { month: before, conversations: 1, messages: 70 },
        ],
      });
    });
  });

  it.each([
    [{}, 12],
    [{ months: '' }, 12],
    [{ months: '0' }, 1],
    [{ months: '-7' }, 1],
    [{ months: '1' }, 1],
    [{ months: '24' }, 24],
    [{ months: '1000' }, 24],
  ])('with %j shows %i months, the oldest of them included', async (query, count) => {
    await within(async (months) => {
      const oldest = months[count - 1] ?? '';
      const { read } = await anOrganizationWithUsage({ [oldest]: 1, [months[count] ?? '']: 5 });

      const shown = (await read(query)).months;

      expect(shown.map(({ month }) => month)).toEqual(months.slice(0, count));
      expect(shown.at(-1)).toEqual({ month: oldest, conversations: 1, messages: 1 });
    });
  });

  it.each(['twelve', '1.5', '1e1', ' 3'])('refuses %j months', async (months) => {
    const { read } = await anOrganizationWithUsage({});
    await expect(read({ months })).rejects.toThrow('400');
  });

  it('shows nothing of another organization', async () => {
    await within(async ([now = '']) => {
      await anOrganizationWithUsage({ [now]: 4 });
      const { read } = await anOrganizationWithUsage({});
      expect((await read({ months: '1' })).months).toEqual([{ month: now, conversations: 0, messages: 0 }]);
    });
  });
});
