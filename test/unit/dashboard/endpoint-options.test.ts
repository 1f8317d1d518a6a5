import { expect, it } from 'vitest';
import { endpointOptions } from '../../../dashboard/src/pages/endpoint-options.ts';

it('the endpoints of a filter have different labels, also with the same name, and no secrets', () => {
  const url = 'https://localhost:4433/hooks';
  const options = endpointOptions(
    [
      { id: 'whk_1234567890aaaaaa', url, status: 'active', description: null },
      { id: 'whk_1234567890bbbbbb', url, status: 'auto_disabled', description: null },
      { id: 'whk_1234567890cccccc', url: 'https://example.com/', status: 'paused', description: 'CRM' },
      ...['?token=short&v=2', '?simulate=500,500,200', '?h=9f8e7d6c5b4a39281706'].map((query, index) => ({
        id: `whk_1234567890ddddd${index}`,
        ...({ url: `https://example.com/${query}`, status: 'active', description: null } as const),
      })),
    ],
    { paused: 'Paused', auto_disabled: 'Disabled' },
  );
  expect(options.map(({ label }) => label)).toEqual([
    'localhost:4433/hooks · …aaaaaa',
    'localhost:4433/hooks · …bbbbbb · Disabled',
    'CRM · Paused',
    'example.com/?token=••••&v=2',
    'example.com/?simulate=500,500,200',
    'example.com/?h=••••',
  ]);
});
