import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from 'aws-local/test/until.ts';
import { mapConcurrently } from '../../../functions/aws/concurrency.ts';
import { ReceiverId } from '../../../functions/aws/ids.ts';
import type { Table } from '../../../functions/aws/table.ts';
import type { Delivery } from '../../../functions/delivery/delivery.ts';
import { aTenant, type Tenant } from '../../support/tenant.ts';
import type { BareLoopTerms } from './bare-loop.ts';
import { queueEvent, withoutMessages } from './delivery-messages.ts';
import { commandOf, cpuMsOf, variableOf } from './processor-time.ts';
import { type Receivers, startReceivers } from './receivers.ts';
import type { MeasuredService } from './service.ts';

/** Requests, or deliveries, of each run and before the first. */
export interface Extent {
  runs: number;
  warming: number;
  each: number;
}

const QUEUE = 'Delivery/Fresh';
const WRITES_AT_ONCE = 16;
/** A request of the bare loop is a fraction of a delivery: measuring as much needs more of them. */
const LOOP_FACTOR = 8;
const execute = promisify(execFile);

/** An endpoint of the service, the dispatcher that delivers to it, and the loop to compare with. */
export interface Dispatching {
  tenant: Tenant;
  receivers: Receivers;
  /**
   * Milliseconds of processor time of each delivery, by run.
   * @param batch records of each invocation
   */
  dispatcher(batch: number, extent: Extent): Promise<number[]>;
  /**
   * The same for each request of a process that only signs and sends.
   * @param atOnce concurrent requests
   */
  bareLoop(atOnce: number, extent: Extent): Promise<number[]>;
  stop(): Promise<void>;
}

export async function startDispatching({ service, taken }: MeasuredService): Promise<Dispatching> {
  const tenant = await aTenant(service);
  const receivers = await startReceivers(service.tls);
  // Of an event that nothing here causes.
  const endpoint = await tenant.api.register(receivers.url('/0'), ['ticket.created']);
  const id = ReceiverId.parse(endpoint.id);
  const pid = await firstDelivery(tenant, endpoint.id, taken);
  const tables = await tablesOf(service, tenant);
  let body = '';

  async function made(count: number): Promise<Delivery[]> {
    const all = Array.from({ length: count }, () =>
      withoutMessages({ orgId: tenant.orgId, endpoint: id }, tables),
    );
    await mapConcurrently(all, WRITES_AT_ONCE, async ({ rows }) => {
      for (const row of rows) await service.rewrite(row);
    });
    body = all[0]?.body ?? body;
    return all.map(({ delivery }) => delivery);
  }

  async function dispatch(deliveries: readonly Delivery[], batch: number): Promise<void> {
    const queue = service.queueArn(QUEUE);
    for (let first = 0; first < deliveries.length; first += batch) {
      const answer = await service.invoke(
        'dispatch',
        queueEvent(queue, deliveries.slice(first, first + batch)),
      );
      const { batchItemFailures } = Object(answer);
      if (batchItemFailures?.length !== 0)
        throw new Error(`the dispatcher left some: ${JSON.stringify(answer)}`);
    }
  }

  return {
    tenant,
    receivers,
    async dispatcher(batch, { runs, warming, each: extent }) {
      const deliveries = await made(warming + runs * extent);
      await dispatch(deliveries.splice(0, warming), batch);
      const cpuMs: number[] = [];
      for (let run = 0; run < runs; run += 1) {
        const before = cpuMsOf(pid);
        await dispatch(deliveries.splice(0, extent), batch);
        cpuMs.push((cpuMsOf(pid) - before) / extent);
      }
      return cpuMs;
    },
    async bareLoop(atOnce, { runs, warming, each: extent }) {
      const url = receivers.url('/0');
      const terms: BareLoopTerms = {
        url,
        secret: endpoint.secret,
        body,
        atOnce,
        warming: warming * LOOP_FACTOR,
        requests: extent * LOOP_FACTOR,
        runs,
      };
      const { stdout } = await execute(
        process.execPath,
        [
          ...commandOf(pid)
            .split(' ')
            .filter((option) => option.startsWith('--max-old-space-size')),
          join(import.meta.dirname, 'bare-loop.ts'),
          JSON.stringify(terms),
        ],
        { env: { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: variableOf(pid, 'NODE_EXTRA_CA_CERTS') } },
      );
      return JSON.parse(stdout);
    },
    async stop() {
      tenant.close();
      await receivers.stop();
    },
  };
}

/**
 * Has the service make a delivery of its own.
 * @returns the dispatcher's process
 */
async function firstDelivery(
  tenant: Tenant,
  endpoint: string,
  taken: MeasuredService['taken'],
): Promise<number> {
  taken();
  const { status } = await tenant.api.post(`/api/v1/webhooks/${endpoint}/test`);
  if (status !== 202) throw new Error(`the test was answered ${status}`);
  await until('a delivery to succeed', async () => {
    const [delivery] = await tenant.api.all(`/api/v1/webhooks/${endpoint}/deliveries`);
    return delivery?.status === 'succeeded';
  });
  return until(
    'the dispatcher to be seen',
    () => taken().find(({ pid }) => variableOf(pid, 'FUNCTION_NAME') === 'dispatch')?.pid,
  );
}

/** Finds the table with rows of an organization. */
async function tablesOf(
  service: MeasuredService['service'],
  { orgId }: Tenant,
): Promise<{ outbox: Table; deliveries: Table }> {
  const rows = await service.rows([orgId]);
  const named = (prefix: string): Table => {
    const row = rows.find(({ item }) => String(item.sk).startsWith(prefix));
    if (row === undefined) throw new Error(`no table has rows ${prefix}…`);
    // Only the name is used: the rows are made here and written by the service's own client.
    return { name: row.table } as Table;
  };
  return { outbox: named('evt_'), deliveries: named('dlv_') };
}
