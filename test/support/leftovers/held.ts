import { writeFileSync } from 'node:fs';
import { startDynamoDb } from 'aws-local/engines/dynamodb.ts';
import { createMemoryDirectory } from 'aws-local/test/memory-directory.ts';
import { expect, it } from 'vitest';

it('never ends', async () => {
  const directory = createMemoryDirectory('engine-');
  const engine = await startDynamoDb({ directory });
  const held = { directory, engine: engine.processId() };
  writeFileSync(process.env.HELD_FILE ?? expect.fail('HELD_FILE is needed'), JSON.stringify(held));
  await Promise.withResolvers<void>().promise;
});
