import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');

/** Requests that AWS may process in part, and the words by which the rest of them is read from the answer. */
const BATCHES: Readonly<Record<string, RegExp>> = {
  BatchGetCommand: /UnprocessedKeys/g,
  BatchGetItemCommand: /UnprocessedKeys/g,
  BatchWriteItemCommand: /UnprocessedItems/g,
  SendMessageBatchCommand: /\b(Failed|Successful) = /g,
  DeleteMessageBatchCommand: /\b(Failed|Successful) = /g,
  PutEventsCommand: /Entries = /g,
};

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

describe('batch requests', () => {
  it.each(Object.keys(BATCHES))('of %s are in no file that ignores what was not processed', (command) => {
    const files = globSync(['functions/**/*.ts', 'lib/**/*.ts'], { cwd: ROOT });
    const users = files.flatMap((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8');
      const requests = count(text, new RegExp(`new ${command}\\(`, 'g'));
      return requests === 0 ? [] : [{ file, requests, rests: count(text, BATCHES[command] ?? /$^/) }];
    });
    expect(users).not.toEqual([]);
    expect(users.filter(({ requests, rests }) => rests < requests)).toEqual([]);
  });
});
