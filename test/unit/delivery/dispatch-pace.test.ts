import { describe, expect, it } from 'vitest';
import type { WebhookRequest } from '../../../functions/delivery/delivery.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { aDispatch, FAILED } from './dispatch-fixture.ts';

const request: WebhookRequest = { method: 'POST', url: 'https://example.com/', headers: {}, body: '{}' };
const atSpeed = (speed: number) => ({ url: `https://receiver.example.com/hook?simulate-speed=${speed}` });

/** Dispatches a delivery at each time that it is due, until it has ended. */
async function untilItEnds({ dispatch, clock, readDelivery }: Awaited<ReturnType<typeof aDispatch>>) {
  const due = [];
  for (let next: string | undefined = NOW.toISOString(); next; next = (await readDelivery())?.nextRetryAt) {
    clock.elapseUntil(new Date(next));
    due.push(clock.now());
    await dispatch();
  }
  return due;
}

describe('sandbox delivery', () => {
  it('follows the schedule at the speed that its endpoint asks for', async () => {
    const setting = await aDispatch({
      sandbox: true,
      endpoint: atSpeed(100),
      attempt: () => {
        setting.clock.elapse(0.1);
        return { ...FAILED, simulated: request };
      },
    });

    const due = await untilItEnds(setting);

    const waits = [0, 30, 60, 120, 240, 480, 960, 1920];
    const real = waits.map(
      (_, index) => waits.slice(0, index + 1).reduce((sum, wait) => sum + wait, 0) + index * 10,
    );
    expect(due).toEqual(real.map((after) => later(NOW, seconds(after) / 100)));
    const ended = await setting.readDelivery();
    expect(ended?.attemptLog.map(({ startedAt }) => new Date(startedAt))).toEqual(due);
    expect(ended).toMatchObject({
      status: 'exhausted',
      terminalAt: later(NOW, seconds(63.5 * 60 + 80) / 100).toISOString(),
    });
  });

  it('follows the real schedule when its endpoint asks for none', async () => {
    const { dispatch } = await aDispatch({
      sandbox: true,
      attempt: () => ({ ...FAILED, simulated: request }),
    });

    expect(await dispatch()).toEqual({ kind: 'keep', until: later(NOW, seconds(30)) });
  });

  it('stores the simulated request of each attempt', async () => {
    const { dispatch, readDelivery } = await aDispatch({
      sandbox: true,
      attempt: () => ({ ...FAILED, simulated: request }),
    });

    await dispatch();

    expect(await readDelivery()).toMatchObject({ attemptLog: [{ request }] });
  });
});

describe('live delivery', () => {
  it('follows the real schedule although its URL asks for another', async () => {
    const setting = await aDispatch({ endpoint: atSpeed(3600), attempt: () => FAILED });

    const due = await untilItEnds(setting);

    expect(due.at(1)).toEqual(later(NOW, seconds(30)));
    expect(due.at(-1)).toEqual(later(NOW, seconds(63.5 * 60)));
  });
});
