import { request } from 'node:https';
import { receiverClient } from '../../../../functions/delivery/outbound/client.ts';
import { aPermit } from './permit.ts';

/**
 * A separate process, for variables that Node reads only at its start. Posts once to the URL of its first
 * argument, through the guarded client or, for comparison, with Node's defaults, and prints the result.
 */
const [, , address = '', how = 'guarded'] = process.argv;
const url = new URL(address);

if (how === 'guarded') {
  const client = receiverClient({ policy: { loopback: 'allow' }, timeoutMs: 20_000 });
  const result = await client.post({ url, headers: {}, body: new Uint8Array() }, await aPermit());
  process.stdout.write(JSON.stringify(result));
  client.close();
} else {
  request(url, { method: 'POST' })
    .on('response', (response) => process.stdout.write(String(response.statusCode)))
    .on('error', (error) => process.stdout.write(error.message))
    .end();
}
