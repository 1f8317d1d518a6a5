import { expect, it } from 'vitest';
import { checkReceiverUrl } from '../../../../functions/receivers/receiver-url.ts';

it('a receiver URL may have port 443 and every port from 1024 up, and no other', () => {
  const permitted = Array.from({ length: 65_540 }, (_, port) => port).filter(
    (port) => checkReceiverUrl(`https://example.com:${port}/hook`, { loopback: 'refuse' }).ok,
  );
  expect(permitted).toEqual([443, ...Array.from({ length: 65_536 - 1024 }, (_, index) => 1024 + index)]);
});
