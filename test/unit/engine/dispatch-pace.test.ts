import { describe, expect, it } from 'vitest';
import type { WebhookRequest } from '../../../functions/domain/delivery.ts';
import { later, NOW, seconds } from '../../builders.ts';
import { aDispatch, FAILED, OK } from './a-dispatch.ts';

const request: WebhookRequest = { method: 'POST', url: 'https://example.com/', headers: {}, body: '{}' };
const simulated = { request, durationMs: 10_000 };
const atSpeed = (speed: number) => ({ url: `https://receiver.example.com/hook?simulate-speed=${speed}` });

/** Dispatches a delivery at each time that it is due, until it has ended. */
async function untilItEnds({ dispatch, clock, found }: Awaited<ReturnType<typeof aDispatch>>) {
  const due = [];
  for (let next: string | undefined = NOW.toISOString(); next; next = (await found())?.nextRetryAt) {
    clock.elapseUntil(new Date(next));
    due.push(clock.now());
    await dispatch();
  }
  return due;
}

describe('sandbox delivery', () => {
  it('follows the schedule that its endpoint asks for, and stores the real one', async () => {
    const setting = await aDispatch({
      sandbox: true,
      endpoint: atSpeed(100),
      attempt: () => {
        setting.clock.elapse(0.1);
        return { ...FAILED, simulated };
      },
    });

    const due = await untilItEnds(setting);

    const waits = [0, 30, 60, 120, 240, 480, 960, 1920];
    const real = waits.map((_, index) =>
      later(NOW, seconds(waits.slice(0, index + 1).reduce((sum, wait) => sum + wait, 0) + index * 10)),
    );
    expect(due).toEqual(real.map((time) => later(NOW, (time.getTime() - NOW.getTime()) / 100)));
    const ended = await setting.found();
    expect(ended?.attemptLog.map(({ atRealSpeed }) => atRealSpeed)).toEqual(
      real.map((startedAt) => ({ startedAt: startedAt.toISOString(), durationMs: 10_000 })),
    );
    expect(ended).toMatchObject({
      status: 'exhausted',
      atRealSpeed: { terminalAt: later(NOW, seconds(63.5 * 60 + 80)).toISOString() },
    });
    expect(ended?.atRealSpeed).not.toHaveProperty('nextRetryAt');
  });

  it('follows the real schedule, and stores no other, when its endpoint asks for none', async () => {
    const { dispatch, found } = await aDispatch({
      sandbox: true,
      attempt: () => ({ ...FAILED, simulated }),
    });

    expect(await dispatch()).toEqual({ kind: 'keep', until: later(NOW, seconds(30)) });

    expect(await found()).not.toHaveProperty('atRealSpeed');
    expect((await found())?.attemptLog[0]).not.toHaveProperty('atRealSpeed');
  });

  it('continues from the stored real time when an attempt was lost in between', async () => {
    const setting = await aDispatch({
      sandbox: true,
      endpoint: atSpeed(10),
      attempt: (attempt) => {
        if (attempt === 2) throw new Error('the worker is gone');
        return attempt === 1 ? { ...FAILED, simulated } : { ...OK, simulated };
      },
    });
    await setting.dispatch();
    setting.clock.elapse(3);
    await expect(setting.dispatch()).rejects.toThrow('the worker is gone');
    setting.clock.elapse(60);

    await setting.dispatch();

    expect(await setting.found()).toMatchObject({
      status: 'succeeded',
      terminalReason: 'sandbox_simulated',
      attemptLog: [{}, { number: 3, atRealSpeed: { startedAt: later(NOW, seconds(40)).toISOString() } }],
      atRealSpeed: { terminalAt: later(NOW, seconds(50)).toISOString() },
    });
  });

  it('stores the simulated request of each attempt', async () => {
    const { dispatch, found } = await aDispatch({
      sandbox: true,
      attempt: () => ({ ...FAILED, simulated }),
    });

    await dispatch();

    expect(await found()).toMatchObject({ attemptLog: [{ request }] });
  });
});

describe('live delivery', () => {
  it('follows the real schedule although its URL asks for another', async () => {
    const setting = await aDispatch({ endpoint: atSpeed(3600), attempt: () => FAILED });

    const due = await untilItEnds(setting);

    expect(due.at(1)).toEqual(later(NOW, seconds(30)));
    expect(due.at(-1)).toEqual(later(NOW, seconds(63.5 * 60)));
    const ended = await setting.found();
    expect(ended).not.toHaveProperty('atRealSpeed');
    for (const attempt of ended?.attemptLog ?? []) expect(attempt).not.toHaveProperty('atRealSpeed');
  });
});
