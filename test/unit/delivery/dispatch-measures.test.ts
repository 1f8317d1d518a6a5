import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { NOW } from '../../builders.ts';
import { aDispatch, FAILED, OK } from './dispatch-fixture.ts';

const MINUTE = 60_000;

/** A time in milliseconds after the creation of event and delivery. */
const at = (ms: number) => new Date(NOW.getTime() + ms).toISOString();

describe('metrics of an attempt', () => {
  it("are the time from the event's commit to the attempt's start and end, and its lateness", async () => {
    const setting = await aDispatch({
      attempt: () => {
        setting.clock.elapse(0.07);
        return OK;
      },
    });
    setting.clock.elapse(0.3);

    await setting.dispatch('fresh');

    expect(setting.measured).toEqual([
      {
        outcome: 'succeeded',
        parked: false,
        lateMs: 300,
        sinceCommitMs: { first: true, begun: 300, ended: 370 },
      },
    ]);
  });

  it('measure the lateness of a retry from its own due time', async () => {
    const setting = await aDispatch({
      delivery: { attempts: 1, status: 'retrying', nextRetryAt: at(MINUTE) },
    });
    setting.clock.elapse(60.025);

    await setting.dispatch('retry');

    expect(setting.measured).toMatchObject([
      { outcome: 'succeeded', lateMs: 25, sinceCommitMs: { first: false, ended: MINUTE + 25 } },
    ]);
  });

  it.each([
    { case: 'a redelivery', delivery: { id: newId('dlv', NOW) } },
    { case: 'a delivery of a sandbox', sandbox: true },
  ])('omit the time since the commit for $case', async ({ case: _, ...changes }) => {
    const { dispatch, measured } = await aDispatch(changes);
    await dispatch();
    expect(measured).toEqual([{ outcome: 'succeeded', parked: false, lateMs: 0 }]);
  });

  it.each([
    { attempts: 0, crowded: false, outcome: 'retrying', parked: false },
    { attempts: 0, crowded: true, outcome: 'retrying', parked: true },
    { attempts: 6, crowded: false, outcome: 'retrying', parked: true },
    { attempts: 7, crowded: true, outcome: 'exhausted', parked: false },
  ])(
    'report the failure after $attempts earlier attempts in a queue whose being crowded is $crowded',
    async (row) => {
      const { dispatch, measured } = await aDispatch({
        delivery: { attempts: row.attempts },
        attempt: () => FAILED,
        crowded: async () => row.crowded,
      });
      await dispatch();
      expect(measured).toMatchObject([{ outcome: row.outcome, parked: row.parked }]);
    },
  );

  it('are omitted when the lease was over before the attempt ended', async () => {
    const setting = await aDispatch({
      attempt: () => {
        setting.clock.elapse(60);
        return OK;
      },
    });
    await setting.dispatch();
    expect(setting.measured).toEqual([]);
    expect(setting.log.entries).toMatchObject([{ code: 'ATTEMPT_OUTLIVED' }]);
  });
});

it('the metrics count a disabled endpoint once', async () => {
  const { dispatch, disablings } = await aDispatch({
    delivery: { attempts: 7 },
    endpoint: { consecutiveFailures: 9 },
    attempt: () => FAILED,
  });
  await dispatch();
  expect(disablings()).toBe(1);
});
