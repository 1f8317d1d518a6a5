import { describe, expect, it } from 'vitest';
import { ReceiverId } from '../../../../functions/domain/ids.ts';
import type { Table } from '../../../../functions/store/table.ts';
import { queueEvent, unreminded } from '../../../bench/measure/reminders.ts';
import type { Row } from '../../../support/tables.ts';
import { aTenant } from '../../../support/tenant.ts';
import { until } from '../../../support/until.ts';
import type { Place } from './place.ts';

/** A batch of the dispatcher in which rows of some organizations are broken. */
export function partialFailures({ service, keep }: Place): void {
  const rowOf = async (table: string, text: string, is: (item: Row['item']) => boolean): Promise<Row> =>
    until(`a row of ${table} with ${text}`, async () =>
      (await service().rows([text])).find((row) => row.table.includes(`Tables${table}`) && is(row.item)),
    );

  /** An organization with an endpoint, and a delivery to it that has no message. */
  async function aDeliveryDue(tables: { outbox: string; deliveries: string }) {
    const { orgId, api, receiver } = keep(await aTenant(service()));
    const webhookId = ReceiverId.parse((await api.register(receiver, ['ticket.created'])).id);
    // Only the names are used: the rows are written by the service's own client.
    const table = (name: string) => ({ name }) as Table;
    const made = unreminded(
      { orgId, endpoint: webhookId },
      { outbox: table(tables.outbox), deliveries: table(tables.deliveries) },
    );
    return { ...made, orgId, webhookId };
  }

  /** The names of the tables, by what one delivery has in them. */
  async function tableNames() {
    const { orgId, api, receiver } = keep(await aTenant(service()));
    await api.register(receiver, ['conversation.created']);
    await api.createConversation();
    const [outbox, deliveries] = await Promise.all([
      rowOf('Outbox', orgId, () => true),
      rowOf('Deliveries', orgId, () => true),
    ]);
    return { outbox: outbox.table, deliveries: deliveries.table };
  }

  describe('a batch of ten of the dispatcher', { timeout: 120_000 }, () => {
    it('delivers seven at once when an endpoint and an organization are unreadable and an event is absent', async () => {
      const tables = await tableNames();
      const due = await Promise.all(Array.from({ length: 10 }, () => aDeliveryDue(tables)));
      const [endpoint, organization, event, ...others] = due;
      if (!endpoint || !organization || !event) throw new Error('ten deliveries were to be made');
      for (const { rows } of due)
        for (const row of rows) if (row.item.pk !== event.delivery.eventId) await service().rewrite(row);
      const broken = [
        await rowOf('Service', endpoint.webhookId, ({ sk }) => sk === endpoint.webhookId),
        await rowOf(
          'Service',
          organization.orgId,
          ({ pk, sk }) => pk === organization.orgId && sk === 'organization',
        ),
      ];
      for (const { table, item } of broken)
        await service().rewrite({ table, item: { pk: item.pk, sk: item.sk, note: 'broken by a test' } });

      const batch = queueEvent(
        service().queueArn('Delivery/Fresh'),
        due.map(({ delivery }) => delivery),
      );
      const answer = await service().invoke('dispatch', batch);

      expect(answer).toEqual({
        batchItemFailures: batch.Records.slice(0, 2).map(({ messageId }) => ({ itemIdentifier: messageId })),
      });
      const statuses = await Promise.all(
        due.map(async ({ delivery }) => {
          const { item } = await rowOf('Deliveries', delivery.id, ({ sk }) => sk === delivery.id);
          return [item.status, item.terminalReason, item.attempts];
        }),
      );
      expect(statuses).toEqual([
        ['pending', undefined, 0],
        ['pending', undefined, 0],
        ['skipped', 'event_missing', 0],
        ...others.map(() => ['succeeded', undefined, 1]),
      ]);
    });
  });
}
