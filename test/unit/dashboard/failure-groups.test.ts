import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiFailure } from '../../../dashboard/src/api/failures.ts';
import {
  type FailedDelivery,
  groupFailures,
  planResend,
} from '../../../dashboard/src/pages/failures/groups.ts';
import { type ResendPorts, resendTargets, type Tally } from '../../../dashboard/src/pages/failures/run.ts';
import { readTurns } from '../../../dashboard/src/pages/failures/turns.ts';

const NOW = Date.parse('2026-11-20T09:30:00.000Z');
let sequence = 0;

function aFailure(given: Partial<FailedDelivery> = {}): FailedDelivery {
  sequence += 1;
  const time = NOW + sequence;
  return {
    id: `dlv_${time.toString(16).padStart(12, '0')}${'0'.repeat(20)}`,
    webhookId: 'whk_a',
    eventId: `evt_${sequence}`,
    eventType: 'ticket.created',
    status: 'exhausted',
    createdAt: new Date(time).toISOString(),
    lastError: 'the receiver answered 422',
    lastErrorCode: 'http_status',
    lastResponseStatus: 422,
    lastResponse: `{"message":"tenant ${sequence} unknown"}`,
    ...given,
  };
}

describe('failures', () => {
  it('are grouped by code, status and message, the largest group first', () => {
    const [first, second] = [aFailure(), aFailure({ webhookId: 'whk_b' })];
    const other = aFailure({ lastResponseStatus: 500, lastResponse: 'boom' });
    const none = { lastResponseStatus: null, lastResponse: undefined };
    const expired = aFailure({ ...none, lastErrorCode: 'tls', lastError: 'TLS certificate has expired' });
    const untrusted = aFailure({ ...none, lastErrorCode: 'tls', lastError: 'TLS certificate is revoked' });
    const late = aFailure({ ...none, lastErrorCode: 'timeout', lastError: 'timed out after 10 s' });
    const groups = groupFailures([other, first, late, second, expired, untrusted]);
    expect(groups.map(({ status, cause, deliveries }) => [status, cause, deliveries.length])).toEqual([
      [422, 'tenant # unknown', 2],
      [null, '', 2],
      [500, 'boom', 1],
      [null, '', 1],
    ]);
    expect(groups[0]).toMatchObject({
      firstAt: first.createdAt,
      lastAt: second.createdAt,
      example: expect.stringContaining('tenant'),
      endpoints: [
        { id: 'whk_a', count: 1 },
        { id: 'whk_b', count: 1 },
      ],
    });
  });

  it('are each in one group, in any order of reading', () => {
    const status = fc.constantFrom(null, 422, 500);
    const message = fc.constantFrom('a', 'b', 'id 7');
    fc.assert(
      fc.property(fc.array(fc.tuple(status, message)), (causes) => {
        const failures = causes.map(([lastResponseStatus, text]) =>
          aFailure({ lastResponseStatus, lastResponse: text, lastError: text }),
        );
        const groups = groupFailures([...failures, ...failures]);
        expect(groups.flatMap(({ deliveries }) => deliveries.map(({ id }) => id)).toSorted()).toEqual(
          failures.map(({ id }) => id).toSorted(),
        );
        expect(groupFailures(failures.toReversed())).toEqual(groups);
      }),
    );
  });

  it('are resent once for each event and endpoint, oldest first, without those of disabled endpoints', () => {
    const old = aFailure({ eventId: 'evt_same' });
    const again = aFailure({ eventId: 'evt_same', status: 'retrying' });
    const elsewhere = aFailure({ eventId: 'evt_same', webhookId: 'whk_b' });
    const disabled = aFailure({ webhookId: 'whk_off' });
    const plan = planResend({ deliveries: [disabled, elsewhere, again, old] }, (id) => id !== 'whk_off');
    expect(plan.targets.map(({ id }) => id)).toEqual([again.id, elsewhere.id]);
    expect(plan.left).toBe(1);
  });
});

describe('resending a group', () => {
  const targets = [aFailure(), aFailure(), aFailure()];
  const refusal = (status: number, retryAfter?: number) =>
    new ApiFailure('', { status, type: 'X', retryAfter });

  function ports(given: Partial<ResendPorts> = {}) {
    const seen = { sent: [] as string[], waits: [] as number[], progress: [] as Tally[] };
    const made: ResendPorts = {
      hasArrived: async () => false,
      send: async ({ id }) => seen.sent.push(id),
      wait: async (ms) => void seen.waits.push(ms),
      onProgress: (tally) => seen.progress.push(tally),
      ...given,
    };
    return { seen, made };
  }
  const running = () => new AbortController().signal;

  it('sends each event in turn and reports the progress', async () => {
    const { seen, made } = ports();
    expect(await resendTargets(targets, made, running())).toEqual({ sent: 3, arrived: 0, refused: 0 });
    expect(seen.sent).toEqual(targets.map(({ id }) => id));
    expect(seen.progress.map(({ sent }) => sent)).toEqual([1, 2, 3]);
  });

  it('leaves out events that have arrived, and counts what is refused', async () => {
    const { made } = ports({
      hasArrived: async ({ id }) => id === targets[0]?.id,
      send: async ({ id }) => {
        if (id === targets[1]?.id) throw refusal(409);
      },
    });
    expect(await resendTargets(targets, made, running())).toEqual({ sent: 1, arrived: 1, refused: 1 });
  });

  it('waits as long as the API asks, then tries the same event again', async () => {
    let calls = 0;
    const { seen, made } = ports({
      send: async () => {
        calls += 1;
        if (calls === 1) throw refusal(429, 7);
      },
    });
    expect(await resendTargets(targets, made, running())).toEqual({ sent: 3, arrived: 0, refused: 0 });
    expect(seen.waits).toEqual([7000]);
  });

  it('ends with the error when the API keeps failing, after some tries', async () => {
    const { seen, made } = ports({ send: async () => Promise.reject(refusal(503)) });
    await expect(resendTargets(targets, made, running())).rejects.toMatchObject({ status: 503 });
    expect(seen.waits).toEqual([1000, 2000, 4000]);
  });

  it('stops after the event that is being sent', async () => {
    const controller = new AbortController();
    const { seen, made } = ports({ onProgress: () => controller.abort() });
    expect(await resendTargets(targets, made, controller.signal)).toEqual({
      sent: 1,
      arrived: 0,
      refused: 0,
    });
    expect(seen.sent).toEqual([targets[0]?.id]);
  });
});

describe('reading failures', () => {
  it('takes a page of each endpoint in turn, and continues where it stopped', async () => {
    const read: string[] = [];
    const page = async ({ webhookId, cursor }: { webhookId: string; cursor: string | null }) => {
      const number = Number(cursor ?? 0) + 1;
      read.push(`${webhookId} ${number}`);
      const isLast = webhookId === 'whk_b' || number === 25;
      return { rows: [aFailure({ webhookId })], next: isLast ? null : String(number) };
    };
    const places = ['whk_a', 'whk_b'].map((webhookId) => ({ webhookId, cursor: null }));
    const first = await readTurns(places, page, new AbortController().signal);
    expect(read.slice(0, 3)).toEqual(['whk_a 1', 'whk_b 1', 'whk_a 2']);
    expect(first.deliveries).toHaveLength(20);
    expect(first.rest).toEqual([{ webhookId: 'whk_a', cursor: '19' }]);
    const second = await readTurns(first.rest, page, new AbortController().signal);
    expect(second.deliveries).toHaveLength(6);
    expect(second.rest).toEqual([]);
  });
});
