import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Logging, loggingLater } from '../../../functions/platform/logger.ts';
import { INVOCATION } from '../../support/functions.ts';
import { capturingLogger } from './capturing-logger.ts';

/** Logging that is loaded when it is let. */
function aLogging({ doesDebug = false } = {}) {
  const captured = capturingLogger('DEBUG');
  const { promise, resolve } = Promise.withResolvers<Logging>();
  let loads = 0;
  const logging = loggingLater(() => {
    loads += 1;
    return promise;
  }, doesDebug);
  return { logging, lines: captured.lines, loads: () => loads, letLoad: () => resolve(captured) };
}

const begun = (number: number) => ({ ...INVOCATION, awsRequestId: `invocation-${number}` });

describe('logging that is loaded later', () => {
  it('is never loaded where nothing is to be written', async () => {
    const { logging, loads } = aLogging();
    for (let number = 1; number <= 3; number += 1) {
      logging.begin(begun(number));
      logging.add({ requestId: 'request-1' });
      logging.log('REQUEST_ANSWERED', { status: 200 });
      await logging.written();
    }
    expect(loads()).toBe(0);
  });

  it('writes lines of the level DEBUG where they are wanted', async () => {
    const { logging, lines, letLoad } = aLogging({ doesDebug: true });
    letLoad();
    logging.begin(begun(1));
    logging.log('REQUEST_ANSWERED', { status: 200 });
    await logging.written();
    expect(lines).toMatchObject([{ code: 'REQUEST_ANSWERED', status: 200 }]);
  });

  it('is waited for, and then has written each line with what was known of its invocation when it was logged', async () => {
    const { logging, lines, letLoad, loads } = aLogging();
    logging.begin(begun(1));
    logging.begin(begun(2));
    logging.log('DELIVERY_EXPIRED', { deliveryId: 'dlv_1' });
    logging.add({ requestId: 'request-2' });
    logging.log('DELIVERY_EXPIRED', { deliveryId: 'dlv_2' });
    let isWritten = false;
    const written = logging.written().then(() => {
      isWritten = true;
    });
    await Promise.resolve();
    expect(isWritten).toBe(false);
    letLoad();
    await written;
    expect(loads()).toBe(1);
    expect(lines).toMatchObject([
      { deliveryId: 'dlv_1', function_request_id: 'invocation-2' },
      { deliveryId: 'dlv_2', function_request_id: 'invocation-2', requestId: 'request-2' },
    ]);
    expect(lines[0]).not.toHaveProperty('requestId');
  });

  it('tells what logging that was there from the beginning would have told', async () => {
    const step = fc.oneof(
      fc.constant('begin' as const),
      fc.constant('end' as const),
      fc.constant('log' as const),
      fc.constant('add' as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { logging, lines, letLoad } = aLogging();
        const reference = capturingLogger('INFO');
        letLoad();
        let number = 1;
        for (const each of [logging, reference]) each.begin(begun(number));
        for (const one of steps) {
          number += 1;
          if (one === 'end') await logging.written();
          for (const each of [logging, reference]) {
            if (one === 'begin') each.begin(begun(number));
            if (one === 'add') each.add({ requestId: `request-${number}` });
            if (one === 'log') each.log('DELIVERY_EXPIRED', { deliveryId: `dlv_${number}` });
          }
        }
        await logging.written();
        const told = (all: Record<string, unknown>[]) =>
          all.map(({ timestamp: _, cold_start: __, ...line }) => line);
        expect(told(lines)).toEqual(told(reference.lines));
      }),
    );
  });

  it('counts as a cold start the first invocation alone', async () => {
    const { logging, lines, letLoad } = aLogging();
    letLoad();
    for (let number = 1; number <= 3; number += 1) {
      logging.begin(begun(number));
      if (number === 2) logging.log('DELIVERY_EXPIRED', { deliveryId: 'dlv_1' });
      await logging.written();
    }
    expect(lines).toMatchObject([{ cold_start: false }]);
  });
});
