import { marshall } from '@aws-sdk/util-dynamodb';
import { until } from 'aws-local/test/until.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { newId, OrgId, ReceiverId } from '../../../../functions/aws/ids.ts';
import type { Table } from '../../../../functions/aws/table.ts';
import type { BusEvent } from '../../../../functions/events/bus.ts';
import type { FunctionName } from '../../../../lib/infra/grants/grant.ts';
import { queueEvent, withoutMessages } from '../../../support/delivery-messages.ts';
import type { Row } from '../../../support/tables.ts';
import { aTenant } from '../../../support/tenant.ts';
import type { Place } from '../place.ts';

/** Batches of ten in which rows of some organizations are broken: the others are processed at once. */
export function partialFailures({ service, keep }: Place): void {
  const findRow = async (table: string, text: string, is: (item: Row['item']) => boolean): Promise<Row> =>
    until(`a row of ${table} with ${text}`, async () =>
      (await service().rows([text], table)).find((row) => is(row.item)),
    );

  /** An organization with an endpoint and a delivery without a message. */
  async function aDeliveryDue(tables: { outbox: string; deliveries: string }) {
    const { orgId, api, receiver } = keep(await aTenant(service()));
    const webhookId = ReceiverId.parse((await api.register(receiver, ['ticket.created'])).id);
    // Only the names of the tables are used: the rows are written by the service's own client.
    const table = (name: string) => ({ name }) as Table;
    const made = withoutMessages(
      { orgId, endpoint: webhookId },
      { outbox: table(tables.outbox), deliveries: table(tables.deliveries) },
    );
    return { ...made, orgId, webhookId };
  }

  /** The names of the tables, read from the rows of one delivery. */
  async function tableNames() {
    const { orgId, api, receiver } = keep(await aTenant(service()));
    await api.register(receiver, ['conversation.created']);
    await api.createConversation();
    const [outbox, deliveries] = await Promise.all([
      findRow('Outbox', orgId, () => true),
      findRow('Deliveries', orgId, () => true),
    ]);
    return { outbox: outbox.table, deliveries: deliveries.table };
  }

  describe('a batch of ten of the dispatcher', { timeout: 120_000 }, () => {
    it('delivers the seven others when an endpoint and an organization are unreadable and an event is missing', async () => {
      const tables = await tableNames();
      const due = await Promise.all(Array.from({ length: 10 }, () => aDeliveryDue(tables)));
      const [endpoint, organization, event, ...others] = due;
      if (!endpoint || !organization || !event) throw new Error('ten deliveries were to be made');
      for (const { rows } of due)
        for (const row of rows) if (row.item.sk !== event.delivery.eventId) await service().rewrite(row);
      // The fan-out retries events of an unreadable organization and blocks those behind them, so let these
      // pass first.
      await tableNames();
      const broken = [
        await findRow('Service', endpoint.webhookId, ({ sk }) => sk === endpoint.webhookId),
        await findRow(
          'Service',
          organization.orgId,
          ({ pk, sk }) => pk === organization.orgId && sk === 'organization',
        ),
      ];
      for (const { table, item } of broken)
        await service().rewrite({ table, item: { pk: item.pk, sk: item.sk, note: 'broken by a test' } });

      // Deliveries to new endpoints go to the slow queue.
      const batch = queueEvent(
        service().queueArn('Delivery/Slow'),
        due.map(({ delivery }) => delivery),
      );
      const answer = await service().invoke('dispatch', batch);

      expect(answer).toEqual({
        batchItemFailures: batch.Records.slice(0, 2).map(({ messageId }) => ({ itemIdentifier: messageId })),
      });
      const statuses = await Promise.all(
        due.map(async ({ delivery }) => {
          const { item } = await findRow('Deliveries', delivery.id, ({ sk }) => sk === delivery.id);
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

  describe('a batch of ten of another worker', { timeout: 120_000 }, () => {
    /** Ten organizations: the first does not exist, and the row of the second is unreadable. */
    let orgIds: OrgId[];
    const messageIds = Array.from({ length: 10 }, (_, index) => `message-${index}`);
    const failures = messageIds.slice(0, 2).map((itemIdentifier) => ({ itemIdentifier }));

    beforeAll(async () => {
      const enrolled = await Promise.all(Array.from({ length: 9 }, () => service().enrol()));
      orgIds = [OrgId.parse(newId('org', new Date())), ...enrolled.map(({ orgId }) => orgId)];
      await breakOrganization(orgIds[1] ?? '');
    }, 60_000);

    async function breakOrganization(orgId: string) {
      const { table, item } = await findRow(
        'Service',
        orgId,
        ({ pk, sk }) => pk === orgId && sk === 'organization',
      );
      await service().rewrite({ table, item: { pk: item.pk, sk: item.sk, note: 'broken by a test' } });
    }

    const busEvent = (orgId: OrgId, type: BusEvent['type'], data: object): BusEvent => ({
      id: newId('evt', new Date()),
      type,
      orgId,
      generation: 0,
      createdAt: new Date().toISOString(),
      data: { ...data },
    });
    const now = () => new Date();

    it.each<[FunctionName, BusEvent['type'], () => object]>([
      ['meter', 'conversation.created', () => ({})],
      [
        'notify',
        'webhook.disabled',
        () => ({ webhookId: newId('whk', now()), disabledAt: now().toISOString(), lastError: '' }),
      ],
      ['check-source', 'source.check', () => ({ sourceId: newId('src', now()) })],
      [
        'redeliver',
        'webhook.redelivery',
        () => ({ webhookId: newId('whk', now()), redeliveryId: newId('rdj', now()), round: 1 }),
      ],
    ])('%s fails only for the two whose organization cannot be read', async (worker, type, data) => {
      const events = orgIds.map((orgId) => busEvent(orgId, type, data()));
      const Records = events.map((detail, index) => ({
        messageId: messageIds[index],
        body: JSON.stringify({ detail }),
        attributes: { ApproximateReceiveCount: '1' },
      }));
      expect(await service().invoke(worker, { Records })).toEqual({ batchItemFailures: failures });
    });

    it('meter counts the others at once', async () => {
      for (const orgId of orgIds.slice(2))
        await findRow('Usage', orgId, ({ conversations }) => conversations === 1);
    });

    it('fan-out adds the deliveries of the seven others when two organizations and a record cannot be read', async () => {
      const tables = await tableNames();
      const due = await Promise.all(Array.from({ length: 10 }, () => aDeliveryDue(tables)));
      const [, unreadable] = due;
      if (!unreadable) throw new Error('ten deliveries were to be made');
      await breakOrganization(unreadable.orgId);
      const images: Row['item'][] = due.map(({ rows: [, event], webhookId }) => ({
        ...event?.item,
        onlyTo: webhookId,
      }));
      Object.assign(images[0] ?? {}, { orgId: newId('org', now()) });
      images[2] = { pk: 'evt_broken' };
      const Records = images.map((image, index) => ({
        eventName: 'INSERT',
        dynamodb: {
          SequenceNumber: `${index + 1}`,
          NewImage: marshall(image, { removeUndefinedValues: true }),
        },
      }));

      // Those go to a queue of their own, so that the shard does not wait for them.
      expect(await service().invoke('fan-out', { Records })).toEqual({ batchItemFailures: [] });
      for (const { delivery, webhookId } of due.slice(3))
        await findRow('Deliveries', webhookId, ({ eventId }) => eventId === delivery.eventId);
    });

    it('delivery-stream counts the deliveries of the others when a record and a sandbox cannot be read', async () => {
      const tables = await tableNames();
      const due = await Promise.all(Array.from({ length: 10 }, () => aDeliveryDue(tables)));
      const images: Row['item'][] = due.map(({ rows: [, , delivery] }) => ({ ...delivery?.item }));
      images[0] = { pk: 'broken' };
      // Workers read the organization of a sandbox's delivery.
      Object.assign(images[1] ?? {}, { orgId: orgIds[1], generation: 1 });
      const Records = images.map((image, index) => ({
        eventName: 'INSERT',
        dynamodb: {
          SequenceNumber: `${index + 1}`,
          NewImage: marshall(image, { removeUndefinedValues: true }),
        },
      }));

      await expect(
        service().invoke('delivery-stream', { Records, shardId: 'shard-of-a-test' }),
      ).rejects.toThrow('delivery-stream');
      for (const { webhookId } of due.slice(2)) await findRow('Ledger', webhookId, () => true);
    });
  });
}
