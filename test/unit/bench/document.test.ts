import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { figure } from '../../bench/figure.ts';
import { type BenchDocument, readBenchDocument } from '../../bench/report/document.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'bench-document-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const aDocument: BenchDocument = {
  version: 1,
  begunAt: '2026-01-02T03:04:05.000Z',
  endedAt: '2026-01-02T03:05:05.000Z',
  commit: '0123456789ab+',
  machine: { cpus: 2, model: 'A model', memoryMiB: 1024, node: 'v24', load: { atBeginning: 0.1, atEnd: 2 } },
  arguments: ['--only', 'limit'],
  sections: [
    {
      name: 'limit',
      seconds: 12.3,
      blocks: [
        { title: 'A', figures: [figure('batches', 'ratio', [2, 3], { unit: 'x' })], notes: ['A note.'] },
      ],
    },
  ],
};

describe('a benchmark file', () => {
  it('is read as it was written', () => {
    const file = join(directory, 'bench.json');
    writeFileSync(file, JSON.stringify(aDocument));

    expect(readBenchDocument(file)).toEqual(aDocument);
  });

  it.each([
    ['is not JSON', 'x'],
    ['is of something else', '{"version":1}'],
    ['is of another version', JSON.stringify({ ...aDocument, version: 2 })],
  ])('is refused when it %s', (_, text) => {
    const file = join(directory, 'bench.json');
    writeFileSync(file, text);

    expect(() => readBenchDocument(file)).toThrow('that this benchmark wrote');
  });

  it('is refused when it is missing', () => {
    expect(() => readBenchDocument(join(directory, 'none.json'))).toThrow('that can be read');
  });
});
