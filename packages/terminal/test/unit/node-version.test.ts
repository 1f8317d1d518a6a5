import { describe, expect, it } from 'vitest';
import { nodeVersionProblem } from '../../src/node-version.ts';

describe('the Node.js version check', () => {
  it.each(['24.0.0', '24.21.0', '25.1.0'])('accepts %s', (version) => {
    expect(nodeVersionProblem(version)).toBeUndefined();
  });

  it.each(['20.20.0', '22.18.0'])('refuses %s in one line', (version) => {
    expect(nodeVersionProblem(version)).toMatch(new RegExp(`^Node.js 24 or newer.*${version}.*$`));
  });
});
