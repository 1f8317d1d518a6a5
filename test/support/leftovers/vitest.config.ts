import { defineConfig } from 'vitest/config';

/** A run that a test of leftovers ends. */
export default defineConfig({
  root: import.meta.dirname,
  test: { include: ['held.ts'], testTimeout: 0, globalSetup: './guard.ts' },
});
