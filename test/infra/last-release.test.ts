import { expect, it } from 'vitest';
import { checkRelease } from '../support/release-check.ts';

/** Milliseconds: it installs the packages of the release if they differ, and synthesizes two trees. */
const PATIENCE = 900_000;

it(
  'the service can be deployed after its last release, and undone',
  async () => {
    const { code, printed, errors } = await checkRelease('--stage', 'prod');
    expect(code, printed + errors).toBe(0);
  },
  PATIENCE,
);
