import type { Service } from '../../../support/service.ts';

const DAY_MS = 86_400_000;

/** Moves the time of an organization's last e-mails, and what follows from it, back by a day and a second. */
export async function letADayPass(service: Pick<Service, 'rows' | 'rewrite'>, orgId: string): Promise<void> {
  const before = (time: unknown) => new Date(Date.parse(String(time)) - DAY_MS - 1000).toISOString();
  for (const { table, item } of await service.rows([orgId])) {
    if (String(item.pk).startsWith(`${orgId}#mail#source#`))
      await service.rewrite({ table, item: { ...item, sentAt: before(item.sentAt) } });
    if (item.announceAt !== undefined)
      await service.rewrite({ table, item: { ...item, announceAt: before(item.announceAt) } });
  }
}
