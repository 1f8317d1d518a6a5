import { expect, it } from 'vitest';
import { endpointOptions } from '../../../dashboard/src/pages/endpoint-options.ts';

it('the endpoints of a filter have different labels, also with the same URL', () => {
  const url = 'https://localhost:4433/hooks';
  const options = endpointOptions(
    [
      { id: 'whk_1234567890aaaaaa', url, status: 'active' },
      { id: 'whk_1234567890bbbbbb', url, status: 'auto_disabled' },
      { id: 'whk_1234567890cccccc', url: 'https://example.com/', status: 'paused' },
    ],
    { paused: 'Paused', auto_disabled: 'Disabled' },
  );
  expect(options.map(({ label }) => label)).toEqual([
    'localhost:4433/hooks · …aaaaaa',
    'localhost:4433/hooks · …bbbbbb · Disabled',
    'example.com/ · Paused',
  ]);
});
