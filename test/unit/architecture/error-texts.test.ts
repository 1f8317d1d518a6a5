import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findTextMatches } from './error-texts.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** A file without such a line is not parsed, because parsing takes long. */
const CANDIDATE =
  /\b(?:lastError|message|error)\b.*\.(?:test|exec|match|search|includes|(?:starts|ends)With)|\.(?:test|exec|match|search|includes|(?:starts|ends)With)[^)]*\b(?:lastError|message|error)\b|[:=(,] *\/[^/*\n].*[a-z]{2,} [a-z]{2,}/;
/** The client's own text about a missing response, which has no code. */
const OWN_TEXT = 'packages/cli/src/report.ts, ';
const CLIENTS = ['dashboard/src', 'packages/cli/src', 'packages/sdk/src', 'lib/local-run', 'lib/operate'];

describe('the clients', () => {
  it('decide by codes, never by texts of errors, which may change', () => {
    const paths = CLIENTS.flatMap((directory) =>
      globSync(`${directory}/**/*.{ts,tsx}`, { cwd: ROOT }).filter((path) => !path.includes('.gen.')),
    );
    expect(paths.length).toBeGreaterThan(300);
    const faults = paths.flatMap((path) => {
      const text = readFileSync(join(ROOT, path), 'utf8');
      return CANDIDATE.test(text) ? findTextMatches(path, text).map((match) => `${path}, ${match}`) : [];
    });
    expect(faults.filter((match) => !match.startsWith(OWN_TEXT))).toEqual([]);
  });
});

describe('the search for matches of texts', () => {
  it.each([
    'const REFUSED = /^connection refused$/;',
    'const LATE = { late: /timed out after (\\d+) s/ };',
    "if (lastError.includes('refused')) retry();",
    "if (delivery.lastError?.startsWith('TLS')) warn();",
    'const found = sentence.exec(message);',
    "(fault.message ?? '').match(limit);",
  ])('finds %s', (source) => {
    expect(findTextMatches('a.ts', `const a = 1;\n${source}`)).toEqual([
      expect.stringMatching(/^line 2: matches/),
    ]);
  });

  it.each(['codes.includes(errorCode);', '/^\\d+ [a-z]$/.test(time);', "path.startsWith('/events/');"])(
    'ignores %s',
    (source) => {
      expect(findTextMatches('a.ts', source)).toEqual([]);
    },
  );
});
