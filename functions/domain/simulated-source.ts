import { createHash } from 'node:crypto';
import { programOf, simulate } from './simulation.ts';
import type { Found } from './source-check.ts';
import { FETCH_TIMEOUT_SECONDS } from './timing.ts';

const WORDS = 60;

/**
 * What a check of a sandbox's source finds: nothing is asked, and the program in the URL says what it would have been. Each check takes the next
 * step, the last one stays; it does not wait. 200 gives a text that no other step gives, 304 says that nothing has changed, anything else fails, as live.
 * @param check from 1: checks of a source that have ended, and this one
 */
export function simulatedContent(url: string, check: number): Found {
  const program = programOf(url);
  const answer = simulate(program, check, FETCH_TIMEOUT_SECONDS * 1000);
  if ('error' in answer) return { kind: 'failed', error: answer.error };
  if (answer.status === 304) return { kind: 'not-modified' };
  if (answer.status !== 200) return { kind: 'failed', error: `the server answered ${answer.status}` };
  const step = Math.min(check, program.steps.length);
  return { kind: 'fetched', title: `Simulated content ${step}`, text: textOf(url, step) };
}

/** Words that are those of one step of one URL, always the same. */
const textOf = (url: string, step: number): string =>
  Array.from({ length: WORDS }, (_, index) =>
    createHash('sha256')
      .update(`${url}/${step}/${index}`)
      .digest('hex')
      .slice(0, 12)
      .replaceAll(/\d/g, letter),
  ).join(' ');

const letter = (digit: string): string => 'ghijklmnop'.charAt(Number(digit));
