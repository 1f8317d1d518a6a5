import type { Statement } from './statements.ts';

/**
 * Whether an identity may take `action` (`dynamodb:PutItem`) on the resource: a statement allows it and none
 * denies it (IAM User Guide, evaluation logic for one account and identity policies).
 */
export function allows(statements: readonly Statement[], action: string, resource: string): boolean {
  const applicable = statements.filter(
    ({ actions, resources }) =>
      actions.some((pattern) => matches(pattern.toLowerCase(), action.toLowerCase())) &&
      resources.some((pattern) => matches(pattern, resource)),
  );
  return (
    applicable.some(({ effect }) => effect === 'Allow') &&
    applicable.every(({ effect }) => effect === 'Allow')
  );
}

/**
 * Matches `*` (any characters) and `?` (one). Goes back to the last `*` on a mismatch, so that no pattern
 * takes exponential time.
 */
export function matches(pattern: string, text: string): boolean {
  let inPattern = 0;
  let inText = 0;
  let star = -1;
  let starText = 0;
  while (inText < text.length) {
    const expected = pattern[inPattern];
    if (expected === '*') {
      star = inPattern;
      starText = inText;
      inPattern += 1;
    } else if (expected === '?' || expected === text[inText]) {
      inPattern += 1;
      inText += 1;
    } else if (star >= 0) {
      starText += 1;
      inText = starText;
      inPattern = star + 1;
    } else {
      return false;
    }
  }
  return /^\**$/.test(pattern.slice(inPattern));
}
