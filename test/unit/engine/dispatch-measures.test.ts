import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/domain/ids.ts';
import { NOW } from '../../builders.ts';
import { aDispatch, FAILED, OK } from './a-dispatch.ts';

const MINUTE = 60_000;

/** A time in milliseconds from the one at which everything came to be. */
const at = (ms: number) => new Date(NOW.getTime() + ms).toISOString();

describe('what is measured of an attempt', () => {
  it('is the time from the commit of its event to its beginning and end, and how late it began', async () => {
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

  it('is of a retry how late it began after its own time', async () => {
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
    { case: 'a redelivery', delivery: { redeliveryOf: newId('dlv', NOW) } },
    { case: 'a delivery of a sandbox', sandbox: true },
  ])('is of $case no time since the commit', async ({ case: _, ...changes }) => {
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
    'says that number $attempts from 0, in a queue whose being crowded is $crowded, has failed',
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

  it('is nothing when its lease was over before it ended', async () => {
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

it('tells of a disabled endpoint once', async () => {
  const { dispatch, disablings } = await aDispatch({
    delivery: { attempts: 7 },
    endpoint: { consecutiveFailures: 9 },
    attempt: () => FAILED,
  });
  await dispatch();
  expect(disablings()).toBe(1);
});
