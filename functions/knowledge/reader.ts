/*
 * Process that reads one document (source-content.ts). It ends on request, or when its parent process ends.
 */

import { read } from './read.ts';
import type { FromReader, ToReader } from './source-content.ts';

process.once('message', async (job: ToReader) => {
  send({ kind: 'begun' });
  send({ kind: 'extracted', extraction: await read(job.kind, job) });
});

function send(message: FromReader): void {
  process.send?.(message);
}
