import type { Measured } from '../../../lib/cost/measured.ts';
import { allEnded, aSender, atOnce, CONTENT, oneByOne } from './deliveries.ts';
import { itemBytes } from './items.ts';
import { startReceivers } from './receivers.ts';
import { minus, NOTHING, ofFunction, type Tally, times } from './tally.ts';
import type { WatchedRun } from './watched-run.ts';
import { eachInvocation, fitted, workOf } from './work.ts';

const SINGLES = 20;
const BURST = 200;
const ENDPOINTS = 5;
/** Longer than the batching windows of the deliveries' stream and of the meter. */
const GATHERED_MS = 12_000;
const SUCCEEDS = [204];

/**
 * Measures deliveries that succeed at once: one by one, many at once, and with several endpoints to an event.
 */
export async function measureSuccesses(run: WatchedRun) {
  const receivers = await startReceivers(run.service.tls);
  try {
    const single = await aSender(run, receivers, [SUCCEEDS]);
    const several = await aSender(run, receivers, Array(ENDPOINTS).fill(SUCCEEDS));
    await atOnce(single, SINGLES);
    await atOnce(several, 2);
    await run.taken(GATHERED_MS);

    receivers.taken();
    await oneByOne(single, SINGLES);
    const singles = await run.taken(GATHERED_MS);
    const wire = receivers.taken();
    await oneByOne(single, SINGLES, false);
    const plain = await run.taken(GATHERED_MS);
    await atOnce(single, BURST);
    const burst = await run.taken(GATHERED_MS);
    await oneByOne(several, SINGLES);
    const wide = await run.taken(GATHERED_MS);
    await allEnded(single, 2 * SINGLES + BURST + SINGLES);

    const pair = (fn: string) => fitted(ofFunction(singles, fn), ofFunction(burst, fn));
    const fanOut = pair('fan-out');
    const dispatch = pair('dispatch');
    const publish = pair('publish');
    const meter = pair('meter');
    const watch = watchOf(ofFunction(singles, 'delivery-stream'), ofFunction(burst, 'delivery-stream'));
    const perDelivery = deliveryOf(ofFunction(wide, 'fan-out'), fanOut);
    const bodyBytes = wire.bodyBytes / wire.requests;
    return {
      fanOut: {
        perBatch: workOf(fanOut.perBatch),
        perEvent: workOf(minus(fanOut.perUnit, perDelivery)),
        perDelivery: workOf(perDelivery),
      },
      dispatchBatch: workOf(dispatch.perBatch),
      watchEndpoint: workOf(watch.perBatch),
      succeeded: {
        attempts: 1,
        dispatch: workOf(dispatch.perUnit),
        watch: workOf(watch.perDelivery),
      },
      publish: { perBatch: workOf(publish.perBatch), perUnit: workOf(publish.perUnit) },
      meter: { perBatch: workOf(meter.perBatch), perUnit: workOf(meter.perUnit) },
      call: {
        withKey: workOf(eachInvocation(ofFunction(singles, 'create-message'))),
        withoutKey: workOf(eachInvocation(ofFunction(plain, 'create-message'))),
      },
      items: await itemsOf(run, single.tenant.orgId, bodyBytes),
      bodyBytes: Math.round(bodyBytes),
      wireBytes: Math.round((wire.wireBytes - wire.bodyBytes) / wire.requests),
    };
  } finally {
    await receivers.stop();
  }
}

/** The cost that each delivery adds to a fan-out of several for one event. */
function deliveryOf(wide: Tally, { perBatch, perUnit }: { perBatch: Tally; perUnit: Tally }): Tally {
  const perInvocation = minus(eachInvocation(wide), perBatch);
  const events = wide.records / wide.invocations;
  return times(minus(times(perInvocation, 1 / events), perUnit), 1 / (ENDPOINTS - 1));
}

/**
 * Its writes are by batch and endpoint, its processor time also by record: two of each delivery, for its
 * begin and its end.
 */
function watchOf(singles: Tally, burst: Tally): { perBatch: Tally; perDelivery: Tally } {
  const { perBatch, perUnit } = fitted(singles, burst);
  const perInvocation = eachInvocation(singles);
  return {
    perBatch: { ...perInvocation, cpuMs: perBatch.cpuMs },
    perDelivery: { ...NOTHING, cpuMs: 2 * perUnit.cpuMs },
  };
}

/** Bytes of the items of one organization's messages, without their texts. */
async function itemsOf(run: WatchedRun, orgId: string, bodyBytes: number): Promise<Measured['items']> {
  const rows = (await run.service.rows()).filter(({ item }) => JSON.stringify(item).includes(orgId));
  const mean = (of: (row: (typeof rows)[number]) => boolean, textBytes: number): number => {
    const sizes = rows.filter(of).map(({ item }) => itemBytes(item));
    if (sizes.length === 0) throw new Error('a table has no item of those that messages leave');
    return Math.max(0, Math.round(sizes.reduce((sum, size) => sum + size, 0) / sizes.length - textBytes));
  };
  return {
    event: mean(({ item }) => item.type === 'message.received', bodyBytes),
    delivery: mean(({ item }) => String(item.sk).startsWith('dlv_'), 0),
    message: mean(({ item }) => String(item.sk).startsWith('msg_'), CONTENT.length),
    idempotency: mean(
      ({ item }) => item.sk === 'idempotency' && JSON.stringify(item).includes(CONTENT),
      CONTENT.length,
    ),
    mark: mean(({ item }) => item.sk === 'metered', 0),
  };
}
