/*
 * Process that reads one document (extractor.ts). It ends on request, or when its parent process ends.
 */
import type { FromReader, ToReader } from './extractor.ts';
import { read } from './read.ts';

process.once('message', async (job: ToReader) => {
  send({ kind: 'begun' });
  send({ kind: 'extracted', extraction: await read(job.kind, job) });
});

function send(message: FromReader): void {
  process.send?.(message);
}
