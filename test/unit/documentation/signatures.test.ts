import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { sign } from '../../../functions/delivery/signature.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/guides/verify-signatures.md'), 'utf8');

it('the test vector of the guide on signatures is what the service and the library of the standard sign', () => {
  const vector = Object.fromEntries(
    [...PAGE.matchAll(/^\| `?([\w-]+)`? \| `(.+)` \|$/gm)].map(([, name, value]) => [name, value ?? '']),
  );
  const { secret = '', body = '', 'webhook-id': id = '', 'webhook-timestamp': timestamp = '' } = vector;
  const signature = sign(secret, id, Number(timestamp), Buffer.from(body));

  expect(vector['webhook-signature']).toBe(signature);
  expect(new Webhook(secret).sign(id, new Date(Number(timestamp) * 1000), body)).toBe(signature);
});
