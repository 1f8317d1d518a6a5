import { describe, expect, it } from 'vitest';
import { deriveDeliveryId, EndpointId, newId } from '../../../functions/aws/ids.ts';
import { buildRound, createSuccessorJob } from '../../../functions/redelivery/jobs.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { aRedelivery } from './redelivery-fixture.ts';

describe('the job of a successor', () => {
  it.each([1, 5, 40, 600, 3810])(
    'begins within a minute of its test’s success, after %d s',
    async (after) => {
      const { endpoint, tenant, commit, jobs, messages, had, run, worker, clock, job } = aRedelivery();
      const id = EndpointId.parse(endpoint.id);
      const eventId = newId('evt', NOW);
      const predecessor = { id: newId('whk', NOW), disabledAt: NOW.toISOString() };
      const test = deriveDeliveryId(eventId, id);
      const started = createSuccessorJob(id, predecessor, { test }, { tenant, now: NOW });
      await commit(jobs.start(started));
      messages.push(buildRound(started, 1, NOW));
      const succeededAt = later(NOW, seconds(after));
      let isAdded = false;
      await run(async (message) => {
        if (clock.now() >= succeededAt && !isAdded) {
          isAdded = true;
          await had('succeeded', 0, { id: test, eventId });
        }
        await worker()(message);
      });
      const { status, finishedAt = '' } = (await job(started)) ?? {};
      expect(status).toBe('done');
      const lateMs = Date.parse(finishedAt) - succeededAt.getTime();
      expect(lateMs).toBeGreaterThanOrEqual(0);
      expect(lateMs).toBeLessThanOrEqual(seconds(Math.min(60, 2 + after / 10)));
    },
  );
});
