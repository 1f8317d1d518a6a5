import { describe, expect, it } from 'vitest';
import { actBefore, aDispatch, FAILED, OK } from './dispatch-fixture.ts';

describe('successful delivery', () => {
  it('sets the count to 0 although nine failures were counted during its attempt', async () => {
    const setting = await aDispatch({
      attempt: () => {
        setting.endpoints.put({ ...setting.endpoint, consecutiveFailures: 9 });
        return OK;
      },
    });

    await setting.dispatch();

    expect(await setting.readEndpoint()).toMatchObject({ status: 'active', consecutiveFailures: 0 });
  });

  it('does not write an endpoint without failures', async () => {
    const { dispatch, endpoints, endpoint } = await aDispatch();
    const before = await endpoints.find(endpoint.orgId, endpoint.id);

    await dispatch();

    expect(await endpoints.find(endpoint.orgId, endpoint.id)).toEqual(before);
  });

  it('resets also a failure that was counted between its read and its end', async () => {
    const setting = await aDispatch({ endpoint: { consecutiveFailures: 3 } });
    actBefore(setting, 'TransactWrite', () =>
      setting.endpoints.put({ ...setting.endpoint, consecutiveFailures: 4 }),
    );

    await setting.dispatch();

    expect(await setting.readDelivery()).toMatchObject({ status: 'succeeded' });
    expect(await setting.readEndpoint()).toMatchObject({ consecutiveFailures: 0 });
  });
});

describe('failed delivery', () => {
  const failing = (changes: Parameters<typeof aDispatch>[0] = {}) =>
    aDispatch({ delivery: { attempts: 7 }, attempt: () => FAILED, ...changes });

  it('is counted', async () => {
    const { dispatch, readEndpoint } = await failing();
    await dispatch();
    expect(await readEndpoint()).toMatchObject({ consecutiveFailures: 1 });
  });

  it('is not counted at an endpoint that was disabled during its attempt', async () => {
    const setting = await failing({
      attempt: () => {
        setting.endpoints.put({ ...setting.endpoint, status: 'auto_disabled' });
        return FAILED;
      },
    });

    await setting.dispatch();

    expect(await setting.readDelivery()).toMatchObject({ status: 'exhausted' });
    expect(await setting.readEndpoint()).toMatchObject({ consecutiveFailures: 0 });
  });

  it('is the first after a success between its read and its end', async () => {
    const setting = await failing({ endpoint: { consecutiveFailures: 9 } });
    actBefore(setting, 'TransactWrite', () =>
      setting.endpoints.put({ ...setting.endpoint, consecutiveFailures: 0 }),
    );

    await setting.dispatch();

    expect(await setting.readEndpoint()).toMatchObject({ status: 'active', consecutiveFailures: 1 });
  });
});
