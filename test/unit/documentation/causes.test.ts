import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AttemptErrorCode } from '../../../functions/delivery/delivery.ts';
import { describeErrorCode, linkToCause } from '../../../packages/cli/src/error-codes.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PAGE = readFileSync(join(ROOT, 'docs/reference/causes.md'), 'utf8');
const sections = PAGE.split(/^## `(\w+)`$/m).slice(1);

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
