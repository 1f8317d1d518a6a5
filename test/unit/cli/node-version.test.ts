import { describe, expect, it } from 'vitest';
import { nodeVersionProblem } from '../../../lib/cli/terminal/node-version.ts';

describe('version of Node.js', () => {
  it.each(['24.0.0', '24.21.0', '25.1.0'])('takes %s', (version) => {
    expect(nodeVersionProblem(version)).toBeUndefined();
  });

  it.each(['20.20.0', '22.18.0'])('says in one line why not %s', (version) => {
    expect(nodeVersionProblem(version)).toMatch(new RegExp(`^Node.js 24 or newer.*${version}.*$`));
  });
});
