import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { AttemptErrorCode } from '../../../functions/delivery/delivery.ts';
import { sign } from '../../../functions/delivery/signature.ts';
import { describeErrorCode, linkToCause } from '../../../packages/cli/src/error-codes.ts';

const ROOT = join(import.meta.dirname, '../../..');

const textOf = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

it('the test vector of the guide on signatures is what the service and the library of the standard sign', () => {
  const vector = Object.fromEntries(
    [...textOf('docs/guides/verify-signatures.md').matchAll(/^\| `?([\w-]+)`? \| `(.+)` \|$/gm)].map(
      ([, name, value]) => [name, value ?? ''],
    ),
  );
  const { secret = '', body = '', 'webhook-id': id = '', 'webhook-timestamp': timestamp = '' } = vector;
  const signature = sign(secret, id, Number(timestamp), Buffer.from(body));

  expect(vector['webhook-signature']).toBe(signature);
  expect(new Webhook(secret).sign(id, new Date(Number(timestamp) * 1000), body)).toBe(signature);
});

const sections = textOf('docs/reference/causes.md')
  .split(/^## `(\w+)`$/m)
  .slice(1);

it('the page of causes has a section for each errorCode, and for no other', () => {
  expect(sections.filter((_, index) => index % 2 === 0)).toEqual(AttemptErrorCode.options);
});

it.each(AttemptErrorCode.options)('the section of %s says what to check and to do', (code) => {
  const section = sections[sections.indexOf(code) + 1] ?? '';
  expect(section).toMatch(/^\n\n\w.*\n- \*\*Check\*\* .*\n- \*\*Do\*\*[,:] /s);
});

it.each(AttemptErrorCode.options)('the command line describes %s and links to its section', (code) => {
  expect(describeErrorCode(code)).not.toBe(code);
  expect(linkToCause(code, 'https://api.example')).toBe(`https://api.example/api/docs#cause-${code}`);
});

it('the command line links to the page for a code that it does not know', () => {
  expect(linkToCause('a_later_code', 'https://api.example')).toBe('https://api.example/api/docs');
});

/** Programs of this repository's dependencies: `npx` runs these without asking a registry. */
const PROGRAMS = readdirSync(join(ROOT, 'node_modules/.bin'));
const PAGES = globSync('{*.md,{docs,examples,packages}/**/*.md}', {
  cwd: ROOT,
  exclude: (path) => path.includes('node_modules'),
});

describe('the documentation', () => {
  it('runs by npx only programs of the repository’s dependencies, which no registry is asked for', () => {
    const named = PAGES.flatMap((page) =>
      [...textOf(page).matchAll(/\bnpx (?!`)(?:-\S+ )*([\w@./-]+)/g)].map(([, program = '']) => [
        page,
        program,
      ]),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter(([, program = '']) => !PROGRAMS.includes(program))).toEqual([]);
  });

  it('configures other programs, which run in any directory, without npx', () => {
    expect(PAGES.filter((page) => /"command":\s*"(?:npx|npm)"/.test(textOf(page)))).toEqual([]);
  });
});
