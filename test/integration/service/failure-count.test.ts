import { until } from 'aws-local/test/until.ts';
import { expect, it } from 'vitest';
import { aService, path } from './a-service.ts';

const service = aService({
  RETRY_BASE_SECONDS: '0.1',
  RETRY_CAP_SECONDS: '0.1',
  // As long as nine deliveries take to fail on a busy machine.
  ATTEMPT_TIMEOUT_SECONDS: '60',
});

it('a success whose attempt began before nine failures sets the count to 0', {
  timeout: 180_000,
}, async () => {
  const held = Promise.withResolvers<{ status: number }>();
  const { id, received } = await service.subscribe(() =>
    received.length === 1 ? held.promise : { status: 500 },
  );
  const endpoint = async () => (await service.api.get(path(id))).body.data;
  const test = () => service.api.post(`${path(id)}/test`);
  const exhausted = async () =>
    (await service.deliveries(id)).filter(({ status }) => status === 'exhausted').length;

  await test();
  await until('the attempt that takes long', () => received.length === 1);
  await Promise.all(Array.from({ length: 9 }, test));
  await until('nine failures', async () => (await exhausted()) === 9);
  expect(await endpoint()).toMatchObject({ status: 'active', consecutiveFailures: 9 });

  held.resolve({ status: 200 });
  await service.ended(id, 10);
  expect(await endpoint()).toMatchObject({ status: 'active', consecutiveFailures: 0 });

  await test();
  await service.ended(id, 11);
  expect(await endpoint()).toMatchObject({ status: 'active', consecutiveFailures: 1 });
});
